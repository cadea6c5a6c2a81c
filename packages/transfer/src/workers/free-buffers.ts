import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const everyBytes = 4 * 1024 * 1024

/**
 * Returns a function that triggers garbage collection regularly. Call this function with the size of each block of
 * bytes that arrives through a proxy. Each read from a proxy leaves a buffer of 64 KiB, which becomes garbage
 * immediately. Without this function, V8 would not collect a thread's buffers until they add up to 64 MiB. A minor
 * collection takes well under a millisecond. The collections reduce the memory use of a pull by a third.
 */
export function bufferCollector(): (bytes: number) => void {
  let collect: ((options: { type: 'minor' }) => void) | undefined
  let sinceLast = 0
  return (bytes) => {
    sinceLast += bytes
    if (sinceLast < everyBytes) return
    sinceLast = 0
    collect ??= exposeCollector()
    setImmediate(collect, { type: 'minor' }) // after this buffer is no longer in use
  }
}

function exposeCollector(): (options: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}
