import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const everyBytes = 4 * 1024 * 1024

/**
 * To be called with every arrival. Each read of a socket leaves a buffer of 64 KiB that is garbage at once, and V8
 * collects only when 64 MiB of them have gathered, in each thread. A collection of young objects takes well under a
 * millisecond, and keeps a pull a third smaller.
 */
export function bufferCollector(): (bytes: number) => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void
  let sinceLast = 0
  return (bytes) => {
    sinceLast += bytes
    if (sinceLast < everyBytes) return
    sinceLast = 0
    setImmediate(collect, { type: 'minor' }) // when this buffer is no longer in use
  }
}
