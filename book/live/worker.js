/* The worker: starts Python, then runs one setting at a time and answers "cancel" between portions
   of a twentieth of a second.
   Messages in:  {type: "start", assets | cdn + pins, files, module}
                 {type: "run", id, settings, samples, columns, only}   {type: "cancel"}
   Messages out: {type: "stage", text}   {type: "module", module}   {type: "ready", seconds, numpy}
                 {type: "progress", ...}   {type: "failed", ...} */
"use strict";
const SITE_PACKAGES = "/lib/python3.12/site-packages/";
const HOME = "/home/pyodide/";
let python = null;
let current = 0; // id of the run whose results are wanted
const say = (type, more) => postMessage({ type, ...more });
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));
const seconds = (begun) => (performance.now() - begun) / 1000;

// ---------------------------------------------------------------- files of the runtime
function bytes(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < out.length; i++) out[i] = text.charCodeAt(i);
  return out;
}
async function gunzip(data) {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
/* From the book's own asset. */
async function unpack(assets, compiled) {
  const names = ["asm", "loader", "numpy", ...(compiled ? [] : ["wasm"])];
  const parts = await Promise.all(names.map((name) => gunzip(bytes(assets[name]))));
  const unpacked = Object.fromEntries(names.map((name, i) => [name, parts[i]]));
  return { stdlib: bytes(assets.stdlib), ...unpacked };
}
/* From a CDN that must deliver exactly the pinned ones. */
async function download(address, pins) {
  const get = async ([name, [path, integrity]]) => {
    const answer = await fetch(address + path, { integrity, credentials: "omit" });
    return [name, new Uint8Array(await answer.arrayBuffer())];
  };
  return Object.fromEntries(await Promise.all(Object.entries(pins).map(get)));
}

// ---------------------------------------------------------------- Python
/* Pyodide asks for its files by fetch; they come from memory, any other address is refused. */
function serveFromMemory(stdlib) {
  const info = {
    abi_version: "2024_0",
    arch: "wasm32",
    platform: "emscripten_3_1_58",
    python: "3.12.7",
    version: "0.27.8",
  };
  const files = {
    "pyodide.asm.wasm": "",
    "python_stdlib.zip": stdlib,
    "pyodide-lock.json": JSON.stringify({ info, packages: {} }),
  };
  self.fetch = async (address) => {
    const full = String(address && address.url ? address.url : address);
    const name = full.split("/").pop();
    if (Object.hasOwn(files, name)) return new Response(files[name]);
    throw new Error("this page does not fetch " + name);
  };
}
async function boot(runtime, module) {
  if (!module) {
    module = await WebAssembly.compile(runtime.wasm);
    say("module", { module }); // the page keeps it, so that a second worker starts faster
  }
  WebAssembly.instantiateStreaming = async (_, imports) => ({
    module,
    instance: await WebAssembly.instantiate(module, imports),
  });
  serveFromMemory(runtime.stdlib);
  const text = new TextDecoder();
  const handOver = "\nself._createPyodideModule = _createPyodideModule;";
  (0, eval)(text.decode(runtime.asm) + handOver);
  (0, eval)(text.decode(runtime.loader));
  say("stage", { text: "starting Python" });
  const py = await self.loadPyodide({ indexURL: "https://inside.invalid/" });
  // Before it reuses a temporary array of 256 KB or more this NumPy looks at the C stack, which
  // does not exist here. No frames: do not reuse.
  py._module.LDSO.loadedLibsByName.__main__.exports.backtrace = () => 0;
  return py;
}
function writeFile(py, path, content) {
  py.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
  py.FS.writeFile(path, content);
}
/* NumPy from the asset: the length of an index, the index [[name, size], ...], then the files one
   after the other. */
function installPack(py, numpy) {
  const length = new DataView(numpy.buffer).getUint32(0, true);
  const index = JSON.parse(new TextDecoder().decode(numpy.subarray(4, 4 + length)));
  let at = 4 + length;
  for (const [name, size] of index) {
    writeFile(py, SITE_PACKAGES + name, numpy.subarray(at, at + size));
    at += size;
  }
}
function installArchive(py, archive) {
  py.FS.writeFile("/numpy.tar.gz", archive);
  py.runPython(`
import os, tarfile
with tarfile.open("/numpy.tar.gz") as tar:
    wanted = [m for m in tar.getmembers() if ("/" + m.name).startswith("${SITE_PACKAGES}")]
    tar.extractall("/", wanted, filter="data")
os.remove("/numpy.tar.gz")`);
}
/* From here on nothing can leave: the table a reader loads stays in this worker. */
function closeNetwork() {
  self.fetch = () => Promise.reject(new Error("the network is closed"));
  self.XMLHttpRequest = self.WebSocket = self.EventSource = self.importScripts = undefined;
}
async function start({ cdn, pins, assets, module, files }) {
  const begun = performance.now();
  const runtime = cdn ? await download(cdn, pins) : await unpack(assets, module);
  const py = await boot(runtime, module);
  const install = cdn ? installArchive : installPack;
  install(py, runtime.numpy);
  for (const [path, text] of Object.entries(files)) writeFile(py, HOME + path, text);
  closeNetwork();
  say("stage", { text: "loading NumPy and the core" });
  py.runPython(`
import sys, json, hashlib
sys.path.insert(0, "${HOME}")
import numpy as np, bridge, ldpbo_core

def begin(settings, samples, columns, only):
    table = None if samples is None else np.asarray(samples.to_py()).reshape(-1, columns)
    return bridge.Run(json.loads(settings), table, only)

def step(run):
    return json.dumps(run.step(0.05))

def about():
    with open(ldpbo_core.__file__, "rb") as file:
        sha256 = hashlib.sha256(file.read()).hexdigest()
    python = sys.version.split()[0]
    return json.dumps({"numpy": np.__version__, "python": python, "sha256": sha256})
`);
  python = { begin: py.globals.get("begin"), step: py.globals.get("step") };
  const about = JSON.parse(py.globals.get("about")());
  say("ready", { seconds: seconds(begun), ...about });
}

// ---------------------------------------------------------------- runs
async function run({ id, settings, samples, columns, only }) {
  const begun = performance.now();
  current = id;
  await pause();
  if (current !== id) return;
  let work = null;
  try {
    const given = [samples ?? undefined, columns ?? undefined, only ?? undefined];
    work = python.begin(JSON.stringify(settings), ...given);
    for (;;) {
      const part = JSON.parse(python.step(work));
      if (current !== id) return;
      say("progress", { id, ...part, seconds: seconds(begun) });
      if (part.finished) return;
      await pause();
      if (current !== id) return;
    }
  } catch (error) {
    if (current === id) say("failed", { id, text: plain(error) });
  } finally {
    if (work) work.destroy();
  }
}

/* The last line of a Python traceback, without the exception's name. */
function plain(error) {
  const message = String((error && error.message) || error);
  const last = message.trim().split("\n").at(-1);
  return last.replace(/^\w+(Error|Exception): /, "");
}

onmessage = ({ data }) => {
  if (data.type === "start")
    start(data).catch((error) => say("failed", { id: 0, text: plain(error) }));
  if (data.type === "run") run(data);
  if (data.type === "cancel") current = 0;
};
