/* The worker: starts Python, then runs one setting at a time and answers "cancel" between portions of a twentieth of a second.
   Messages in:  {type: "start", assets | cdn + pins, files, module}   {type: "run", id, settings, samples, only}   {type: "cancel"}
   Messages out: {type: "stage", text}  {type: "ready", seconds, numpy}  {type: "module", module}  {type: "progress", ...}  {type: "failed", ...} */
"use strict";
let python = null, current = 0;
const say = (type, more) => postMessage({ type, ...more });
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

function bytes(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), out = new Uint8Array(text.length);
  for (let i = 0; i < out.length; i++) out[i] = text.charCodeAt(i);
  return out;
}
const gunzip = async (data) => new Uint8Array(await new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());

/* The files of the runtime as bytes: from the book's own asset, or from a CDN that must deliver exactly the pinned ones. */
async function unpack(assets, compiled) {
  const names = ["asm", "loader", "numpy", ...(compiled ? [] : ["wasm"])], parts = await Promise.all(names.map((name) => gunzip(bytes(assets[name]))));
  return { stdlib: bytes(assets.stdlib), ...Object.fromEntries(names.map((name, i) => [name, parts[i]])) };
}
async function download(address, pins) {
  const get = async ([path, integrity]) => new Uint8Array(await (await fetch(address + path, { integrity, credentials: "omit" })).arrayBuffer());
  const names = Object.keys(pins), parts = await Promise.all(Object.values(pins).map(get));
  return Object.fromEntries(names.map((name, i) => [name, parts[i]]));
}

/* Pyodide asks for its files by fetch; here they come from memory, and any other address is refused. */
async function boot(runtime, module) {
  if (!module) {
    module = await WebAssembly.compile(runtime.wasm);
    say("module", { module });                      // the page keeps it, so that a second worker starts faster
  }
  WebAssembly.instantiateStreaming = async (_, imports) => ({ module, instance: await WebAssembly.instantiate(module, imports) });
  const lock = { info: { abi_version: "2024_0", arch: "wasm32", platform: "emscripten_3_1_58", python: "3.12.7", version: "0.27.8" }, packages: {} };
  const files = { "pyodide.asm.wasm": "", "python_stdlib.zip": runtime.stdlib, "pyodide-lock.json": JSON.stringify(lock) };
  self.fetch = async (address) => {
    const name = String(address && address.url ? address.url : address).split("/").pop();
    if (Object.hasOwn(files, name)) return new Response(files[name]);
    throw new Error("this page does not fetch " + name);
  };
  const text = new TextDecoder();
  (0, eval)(text.decode(runtime.asm) + "\nself._createPyodideModule = _createPyodideModule;");
  (0, eval)(text.decode(runtime.loader));
  say("stage", { text: "starting Python" });
  const py = await self.loadPyodide({ indexURL: "https://inside.invalid/" });
  // Before it reuses a temporary array of 256 KB or more this NumPy looks at the C stack, which does not exist here. No frames: do not reuse.
  py._module.LDSO.loadedLibsByName.__main__.exports.backtrace = () => 0;
  return py;
}
/* NumPy from the asset: the length of an index, the index [[name, size], ...], then the files one after the other. */
function installPack(py, numpy) {
  const length = new DataView(numpy.buffer).getUint32(0, true), made = new Set();
  let at = 4 + length;
  for (const [name, size] of JSON.parse(new TextDecoder().decode(numpy.subarray(4, 4 + length)))) {
    const path = "/lib/python3.12/site-packages/" + name, folder = path.slice(0, path.lastIndexOf("/"));
    if (!made.has(folder)) { py.FS.mkdirTree(folder); made.add(folder); }
    py.FS.writeFile(path, numpy.subarray(at, at + size));
    at += size;
  }
}
function installArchive(py, archive) {
  py.FS.writeFile("/numpy.tar.gz", archive);
  py.runPython(`
import os, tarfile
with tarfile.open("/numpy.tar.gz") as tar:
    tar.extractall("/", [m for m in tar.getmembers() if m.name.startswith("lib/python3.12/site-packages/")], filter="data")
os.remove("/numpy.tar.gz")`);
}

async function start(message) {
  const begun = performance.now();
  const runtime = message.cdn ? await download(message.cdn, message.pins) : await unpack(message.assets, message.module);
  const py = await boot(runtime, message.module);
  (message.cdn ? installArchive : installPack)(py, runtime.numpy);
  for (const [path, text] of Object.entries(message.files)) {
    const full = "/home/pyodide/" + path;
    py.FS.mkdirTree(full.slice(0, full.lastIndexOf("/")));
    py.FS.writeFile(full, text);
  }
  // From here on nothing can leave: the table a reader loads stays in this worker.
  self.fetch = () => Promise.reject(new Error("the network is closed"));
  self.XMLHttpRequest = self.WebSocket = self.EventSource = self.importScripts = undefined;
  say("stage", { text: "loading NumPy and the core" });
  py.runPython(`
import sys, json, hashlib
sys.path.insert(0, "/home/pyodide")
import numpy as np, bridge, ldpbo_core

def begin(settings, samples, columns, only):
    table = None if samples is None else np.asarray(samples.to_py()).reshape(-1, columns)
    return bridge.Run(json.loads(settings), table, only)

def step(run):
    return json.dumps(run.step(0.05))
`);
  python = { begin: py.globals.get("begin"), step: py.globals.get("step") };
  const about = py.runPython(`json.dumps({"numpy": np.__version__, "python": sys.version.split()[0], "sha256": hashlib.sha256(open(ldpbo_core.__file__, "rb").read()).hexdigest()})`);
  say("ready", { seconds: (performance.now() - begun) / 1000, ...JSON.parse(about) });
}

async function run(message) {
  const id = (current = message.id), begun = performance.now();
  await pause();
  if (current !== id) return;
  let work = null;
  try {
    const { settings, samples, columns, only } = message;
    work = python.begin(JSON.stringify(settings), samples ?? undefined, columns ?? undefined, only ?? undefined);
    for (;;) {
      const part = JSON.parse(python.step(work));
      if (current !== id) return;
      say("progress", { id, ...part, seconds: (performance.now() - begun) / 1000 });
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
  const lines = String((error && error.message) || error).trim().split("\n");
  return lines[lines.length - 1].replace(/^\w+(Error|Exception): /, "");
}

onmessage = (event) => {
  const message = event.data;
  if (message.type === "start") start(message).catch((error) => say("failed", { id: 0, text: plain(error) }));
  if (message.type === "run") run(message);
  if (message.type === "cancel") current = 0;
};
