import { setTimeout as sleep } from 'node:timers/promises'
import type { Output } from './output.ts'

type Options = {
  output: Output
  maxWaitingBytes: number
  /** Called when writing resumes after lines have been dropped. */
  onResumed: (droppedLines: number) => void
}

/**
 * Lines that are logged within this time are written together. Each write to a file wakes another thread, which costs
 * as much as logging ten lines.
 */
const gatherMs = 10
const firstPauseMs = 1
const maxPauseMs = 500

/**
 * Writes lines in order without ever blocking the caller. If a line does not fit into the buffer, this line and all
 * later ones are dropped and counted until half of the buffer is free again. While the process runs, a line is written
 * completely or not at all.
 */
export function boundedWriter({ output, maxWaitingBytes, onResumed }: Options) {
  let waiting: string[] = []
  /** The size of the unwritten lines, including the unwritten part of `current`. */
  let waitingBytes = 0
  let current = Buffer.alloc(0)
  let dropped = 0
  let droppedNow = 0
  let isClosed = false
  let writing: Promise<void> | undefined

  function write(line: string) {
    const bytes = Buffer.byteLength(line)
    // If a line larger than the buffer was dropped while nothing was being written, only this call reports it.
    resume()
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
    await sleep(gatherMs, undefined, { ref: false })
    let pauseMs = firstPauseMs
    while (takeNext() && !isClosed) {
      try {
        wrote(await output.write(current))
        pauseMs = firstPauseMs
      } catch {
        // The reader has stopped or disconnected, or the disk is full. These conditions may be temporary, so retry.
        // Lines that are dropped in the meantime are counted.
        await sleep(pauseMs, undefined, { ref: false })
        pauseMs = Math.min(2 * pauseMs, maxPauseMs)
      }
    }
  }

  /** Fills `current`. Returns false if there is nothing to write. */
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

  /** Writes as much as possible synchronously when the process exits. */
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
    /** Writes as much as possible within `timeoutMs`. */
    async close(timeoutMs: number) {
      const waiting = new AbortController()
      const timeout = sleep(timeoutMs, undefined, { signal: waiting.signal }).catch(() => undefined)
      await Promise.race([writing, timeout]) // the timer keeps the process alive during this wait
      waiting.abort()
      isClosed = true
      process.off('exit', writeLast)
      if (!writing) output.close()
    },
  }
}
