import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Output } from './output.ts'

type Options = {
  output: Output
  maxWaitingBytes: number
  /** Called when lines are taken again after some were dropped. */
  onResumed: (droppedLines: number) => void
}

const firstPauseMs = 1
const maxPauseMs = 500

/**
 * Writes lines in their order without ever making the caller wait. Those that find no room in the buffer are dropped and
 * counted, from then on until half of it is free again. A line is written whole or not at all, as long as the process lives.
 */
export function boundedWriter({ output, maxWaitingBytes, onResumed }: Options) {
  let waiting: string[] = []
  /** With those of `current` that are still to be written. */
  let waitingBytes = 0
  let current = Buffer.alloc(0)
  let dropped = 0
  let droppedNow = 0
  let isClosed = false
  let writing: Promise<void> | undefined

  function write(line: string) {
    const bytes = Buffer.byteLength(line)
    resume() // after a line that was larger than the whole buffer, nothing is under way that would
    if (isClosed || droppedNow > 0 || waitingBytes + bytes > maxWaitingBytes) {
      dropped += 1
      droppedNow += 1
      return
    }
    waiting.push(line)
    waitingBytes += bytes
    writing ??= writeAll().finally(() => {
      writing = undefined
    })
  }

  async function writeAll() {
    await nextTurn() // lines of the same moment go out together
    let pauseMs = firstPauseMs
    while (takeNext() && !isClosed) {
      try {
        wrote(await output.write(current))
        pauseMs = firstPauseMs
      } catch {
        // The reader has stopped or gone, or the disk is full: whatever it is, it may end. What is lost is counted.
        await sleep(pauseMs, undefined, { ref: false })
        pauseMs = Math.min(2 * pauseMs, maxPauseMs)
      }
    }
  }

  /** Fills `current`. False when there is nothing to write. */
  function takeNext(): boolean {
    if (current.length === 0) {
      current = Buffer.from(waiting.join(''))
      waiting = []
    }
    return current.length > 0
  }

  function wrote(bytes: number) {
    current = current.subarray(bytes)
    waitingBytes -= bytes
    resume()
  }

  function resume() {
    if (droppedNow === 0 || isClosed || waitingBytes > maxWaitingBytes / 2) return
    const missing = droppedNow
    droppedNow = 0
    onResumed(missing)
  }

  /** What a process that ends in a hurry can still say. */
  function writeLast() {
    while (takeNext()) {
      const bytes = output.writeNow(current)
      if (bytes === 0) return
      current = current.subarray(bytes)
    }
  }
  process.on('exit', writeLast)

  return {
    write,
    droppedLines: () => dropped,
    /** Writes what can be written within `timeoutMs`. */
    async close(timeoutMs: number) {
      const waiting = new AbortController()
      const timeout = sleep(timeoutMs, undefined, { signal: waiting.signal }).catch(() => undefined)
      await Promise.race([writing, timeout]) // the timer keeps the process alive until then
      waiting.abort()
      isClosed = true
      process.off('exit', writeLast)
      if (!writing) output.close()
    },
  }
}
