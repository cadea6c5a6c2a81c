import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const everyBytes = 4 * 1024 * 1024

/**
 * Returns a function that collects garbage regularly. Call this function for each block of bytes that arrives. Each
 * read from a socket leaves a buffer of 64 KiB, which becomes garbage immediately, but in each thread, V8 collects
 * these buffers only once they add up to 64 MiB. A minor collection takes well under a millisecond. Together, the
 * collections reduce the memory use of a pull by a third.
 */
export function bufferCollector(): (bytes: number) => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void
  let sinceLast = 0
  return (bytes) => {
    sinceLast += bytes
    if (sinceLast < everyBytes) return
    sinceLast = 0
    setImmediate(collect, { type: 'minor' }) // after this buffer is no longer in use
  }
}
