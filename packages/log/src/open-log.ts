/** The log of a server process: JSON lines to stdout or to a file, without ever blocking the process. */
import { escapeControls } from '@shoal/core/text'
import { type Logger, pino } from 'pino'
import { boundedWriter } from './bounded-writer.ts'
import { openFile, openStdout } from './output.ts'

export type { Logger }

/** What a log can do. A function accepts only what it uses, such as `Pick<Log, 'warn'>`. */
export interface Log {
  debug(details: object, message: string): void
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export type LogOptions = {
  /** Lines are appended to the file. If its folder is missing, the folder is created. */
  to: 'stdout' | 'silent' | { file: string }
  level: string
  /** Buffer size in bytes. The default is 1 MiB, which holds several thousand lines. */
  maxWaitingBytes?: number
}

export type OpenLog = {
  log: Logger
  /** The number of lines that have been dropped because they could not be written. */
  droppedLines(): number
  /** Writes as much as possible within a second. Anything logged afterwards is dropped. */
  close(): Promise<void>
}

const oneMebibyte = 2 ** 20
const closeTimeoutMs = 1_000

/**
 * Opens the log. While the log's reader is stopped or the disk is full, lines wait in a bounded buffer. If the buffer
 * is full, lines are dropped. Once writing is possible again, a log line reports how many were dropped. Throws the
 * system's error if the file cannot be opened.
 */
export function openLog({ to, level, maxWaitingBytes = oneMebibyte }: LogOptions): OpenLog {
  if (to === 'silent') {
    return { log: pino({ level: 'silent' }), droppedLines: () => 0, close: async () => undefined }
  }
  const writer = boundedWriter({
    output: to === 'stdout' ? openStdout() : openFile(to.file),
    maxWaitingBytes,
    onResumed: (dropped) =>
      log.error({ dropped }, 'log lines were dropped because they could not be written'),
  })
  // Requests and files may contain text that disrupts the terminal on which the log is read.
  const log = pino({ level }, { write: (line) => writer.write(escapeControls(line)) })
  return { log, droppedLines: writer.droppedLines, close: () => writer.close(closeTimeoutMs) }
}
