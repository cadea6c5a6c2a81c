/**
 * The entry point: passes streams, environment and signals to the CLI, and exits with the exit code that the CLI
 * returns.
 */

import { totalmem } from 'node:os'
import { exitCodes } from '@shoal/core/errors/table'
import { runCommandLine } from './run.ts'

/**
 * Signals within this time after the first signal count as the same Ctrl-C, because this process receives Ctrl-C from
 * the terminal and again from npm or npx, which forward it.
 */
const echoMs = 500

const stop = new AbortController()
let stoppedAt: number | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stoppedAt ??= performance.now()
    if (performance.now() - stoppedAt > echoMs) process.exit(130)
    stop.abort(new DOMException(signal, 'AbortError'))
  })
}

process.stdout.on('error', endWithoutReader)
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  // If nothing reads stderr, the command continues, so that a server can still shut down gracefully.
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') endWithoutReader(error)
})

/** Exits, because no more output can be written. */
function endWithoutReader(error: NodeJS.ErrnoException): never {
  // The reader of stdout has closed the pipe, as `head` does. This is not an error.
  if (error.code === 'EPIPE') process.exit(0)
  const isFull = error.code === 'ENOSPC' || error.code === 'EDQUOT'
  const why = isFull ? 'the disk is full' : error.message
  process.stderr.write(`✗ The output could not be written: ${why}.\n`)
  process.exit(isFull ? exitCodes.no_room : exitCodes.failed)
}

const exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  stopSignal: stop.signal,
  // `constrainedMemory` returns 0 or a huge number if the process has no limit.
  memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
})
// `process.exitCode` is not enough: a connection kept alive would delay the exit. Failed writes are handled above.
process.stdout.write('', (error) => {
  if (!error) process.exit(exitCode)
})
