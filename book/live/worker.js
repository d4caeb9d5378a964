/* The worker: starts Python, then runs one setting at a time and answers "cancel" between portions of a twentieth of a second.
   Messages in:  {type: "start", assets | cdn, files, module}   {type: "run", id, settings, samples, only}   {type: "cancel"}
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

/* Pyodide asks for its files by fetch; here they come from memory, and any other address is refused. */
async function startLocal(assets, module) {
  const [asm, loader, numpy] = await Promise.all(["asm", "loader", "numpy"].map((name) => gunzip(bytes(assets[name]))));
  if (!module) {
    module = await WebAssembly.compile(await gunzip(bytes(assets.wasm)));
    say("module", { module });                      // the page keeps it, so that a second worker starts faster
  }
  WebAssembly.instantiateStreaming = async (_, imports) => ({ module, instance: await WebAssembly.instantiate(module, imports) });
  const lock = { info: { abi_version: "2024_0", arch: "wasm32", platform: "emscripten_3_1_58", python: "3.12.7", version: "0.27.8" }, packages: {} };
  const files = { "pyodide.asm.wasm": "", "python_stdlib.zip": bytes(assets.stdlib), "pyodide-lock.json": JSON.stringify(lock) };
  self.fetch = async (address) => {
    const name = String(address && address.url ? address.url : address).split("/").pop();
    if (name in files) return new Response(files[name]);
    throw new Error("this page does not fetch " + name);
  };
  const text = new TextDecoder();
  (0, eval)(text.decode(asm) + "\nself._createPyodideModule = _createPyodideModule;");
  (0, eval)(text.decode(loader));
  say("stage", { text: "starting Python" });
  const py = await self.loadPyodide({ indexURL: "https://inside.invalid/" });
  // Before it reuses a temporary array of 256 KB or more this NumPy looks at the C stack, which does not exist here. No frames: do not reuse.
  py._module.LDSO.loadedLibsByName.__main__.exports.backtrace = () => 0;
  const length = new DataView(numpy.buffer).getUint32(0, true), made = new Set();
  let at = 4 + length;
  for (const [name, size] of JSON.parse(text.decode(numpy.subarray(4, 4 + length)))) {
    const path = "/lib/python3.12/site-packages/" + name, folder = path.slice(0, path.lastIndexOf("/"));
    if (!made.has(folder)) { py.FS.mkdirTree(folder); made.add(folder); }
    py.FS.writeFile(path, numpy.subarray(at, at + size));
    at += size;
  }
  return py;
}

async function startFromCdn(address) {
  importScripts(address + "pyodide.js");
  const py = await self.loadPyodide({ indexURL: address });
  await py.loadPackage("numpy");
  return py;
}

async function start(message) {
  const begun = performance.now();
  const py = message.cdn ? await startFromCdn(message.cdn) : await startLocal(message.assets, message.module);
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
