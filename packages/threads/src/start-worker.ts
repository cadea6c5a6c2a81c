import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Starts the module `name`, in the folder of `parentUrl`, as a thread. Runs the module's source if `parentUrl` is a
 * source file, and its build otherwise.
 *
 * WebAssembly in the thread calls imported functions only through generic wrappers. By default, V8 compiles a wrapper
 * for each imported function that is called a thousand times. Such functions include those that undici's HTTP parser
 * calls, and those that Node's type stripping for TypeScript sources calls. All threads share the compiled wrappers.
 * When threads start and end, V8 13.6 may free a wrapper that another thread is about to use. The process then crashes
 * with SIGSEGV or `Check failed: jit_page.has_value()`. This happened in one of fifty runs of a test with many pulls. A
 * generic wrapper costs a fraction of a microsecond per call.
 */
export function startWorker(name: string, parentUrl: string, options: WorkerOptions): Worker {
  setFlagsFromString(`--wasm-wrapper-tiering-budget=${never}`) // V8 reads it when the thread instantiates WebAssembly
  const extension = parentUrl.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`./${name}.${extension}`, parentUrl), options)
}

/** The largest value of V8's call counter, which in effect disables the compilation of wrappers. */
const never = 2 ** 31 - 1
