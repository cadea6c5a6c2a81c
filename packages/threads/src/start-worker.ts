import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Starts the module `name` next to `parentUrl` as a thread, from source or from the build.
 *
 * WebAssembly in the thread calls imported functions only through generic wrappers. By default, V8 compiles a wrapper
 * for each imported function that is called a thousand times. These include functions of undici's HTTP parser and of
 * the type stripping that Node applies to sources. All threads share the compiled wrappers. When threads start and end,
 * V8 13.6 may free a wrapper that another thread is about to use, which crashes the process with SIGSEGV or
 * `Check failed: jit_page.has_value()`. This happened in one of fifty runs of a test with many pulls. A generic wrapper
 * costs a fraction of a microsecond per call.
 */
export function startWorker(name: string, parentUrl: string, options: WorkerOptions): Worker {
  setFlagsFromString(`--wasm-wrapper-tiering-budget=${never}`) // read when the thread creates a WebAssembly instance
  const extension = parentUrl.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`./${name}.${extension}`, parentUrl), options)
}

/** A number of calls that is never reached, because V8's counter does not go beyond it. */
const never = 2 ** 31 - 1
