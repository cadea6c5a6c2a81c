/** The log of a server process: JSON lines to stdout or to a file, which never make the process wait. */
import { type Logger, pino } from 'pino'
import { boundedWriter } from './bounded-writer.ts'
import { openFile, openStdout } from './output.ts'

export type { Logger }

export type LogOptions = {
  /** A file is appended to; its folder is made. */
  to: 'stdout' | 'silent' | { file: string }
  level: string
  /** Bytes of lines that wait to be written. Default 1 MiB: some thousand lines. */
  maxWaitingBytes?: number
}

export type OpenLog = {
  log: Logger
  /** Lines dropped since the start because they could not be written. */
  droppedLines(): number
  /** Writes what can be written within a second. What is logged afterwards is dropped. */
  close(): Promise<void>
}

const oneMebibyte = 2 ** 20
const closeTimeoutMs = 1_000

/**
 * Opens the log. When its reader stops or its disk is full, lines wait in a bounded buffer and are dropped when that is full;
 * once they can be written again, a line says how many are missing. Throws the system's error for a file that cannot be opened.
 */
export function openLog({ to, level, maxWaitingBytes = oneMebibyte }: LogOptions): OpenLog {
  if (to === 'silent') {
    return { log: pino({ level: 'silent' }), droppedLines: () => 0, close: async () => undefined }
  }
  const writer = boundedWriter({
    output: to === 'stdout' ? openStdout() : openFile(to.file),
    maxWaitingBytes,
    onResumed: (dropped) =>
      log.error({ dropped }, 'lines of this log are missing: they could not be written'),
  })
  const log = pino({ level }, writer)
  return { log, droppedLines: writer.droppedLines, close: () => writer.close(closeTimeoutMs) }
}
