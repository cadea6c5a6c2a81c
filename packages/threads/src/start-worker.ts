import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Starts `name` beside `parentUrl` as a thread, as a source or as built.
 *
 * WebAssembly in it calls our functions by generic wrappers alone. V8 would compile a wrapper for each that has been called a
 * thousand times: those of undici's HTTP parser, and of the type stripping by which Node reads sources. All threads share these
 * wrappers, and V8 13.6 may free one that another thread is about to use, when threads come and go: the process then ends by
 * SIGSEGV or by `Check failed: jit_page.has_value()`. It did in one of fifty runs of a test with many pulls. A generic wrapper
 * is slower by a fraction of a microsecond for each call.
 */
export function startWorker(name: string, parentUrl: string, options: WorkerOptions): Worker {
  setFlagsFromString(`--wasm-wrapper-tiering-budget=${never}`) // read when a thread makes an instance
  const extension = parentUrl.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`./${name}.${extension}`, parentUrl), options)
}

/** Calls of one function, of which V8 counts no more. */
const never = 2 ** 31 - 1
