/// <reference lib="dom" />
/** A thread in which WebAssembly calls a JavaScript function a hundred times. */

// (module
//   (import "" "f" (func (param f64 f32 f64)))
//   (func (export "call") (call 0 (f64.const 0) (f32.const 0) (f64.const 0))))
const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
const types = [1, 10, 2, 0x60, 3, 0x7c, 0x7d, 0x7c, 0, 0x60, 0, 0]
const imports = [2, 6, 1, 0, 1, 0x66, 0, 0]
const functions = [3, 2, 1, 1]
const exported = [7, 8, 1, 4, 0x63, 0x61, 0x6c, 0x6c, 0, 1]
const f64 = [0x44, 0, 0, 0, 0, 0, 0, 0, 0]
const body = [0, ...f64, 0x43, 0, 0, 0, 0, ...f64, 0x10, 0, 0x0b]
const code = [10, body.length + 2, 1, body.length, ...body]
const bytes = Uint8Array.from([head, types, imports, functions, exported, code].flat())

const { instance } = await WebAssembly.instantiate(bytes, { '': { f: () => undefined } })
const { call } = instance.exports as { call: () => void }
for (let called = 0; called < 100; called += 1) call()
