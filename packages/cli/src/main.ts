/**
 * The entry point: passes streams, environment and signals to the CLI, and exits with the exit code that the CLI
 * returns.
 */

import { totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitCodes } from '@shoal/core/errors/table'
import { runCommandLine } from './run.ts'

/**
 * Signals within this time after the first signal count as the same Ctrl-C, because this process receives Ctrl-C from
 * the terminal and again from npm or npx, which forward it.
 */
const echoMs = 500

/** How long a stopped command waits for file operations. They take longer only if they may never end. */
const graceMs = 1_000
const signals = ['SIGINT', 'SIGTERM'] as const

const stop = new AbortController()
let stoppedAt: number | undefined
for (const signal of signals) {
  process.on(signal, () => {
    stoppedAt ??= performance.now()
    if (performance.now() - stoppedAt > echoMs) void exit(exitCodes.stopped, 0)
    stop.abort(new DOMException(signal, 'AbortError'))
  })
}

/**
 * Exits. `process.exit` waits for file operations that are still running, and those on a pipe or on a network disk that
 * is gone may never end. If the command was stopped, they are therefore ended with the process, by a signal.
 */
async function exit(exitCode: number, waitMs = graceMs) {
  const until = performance.now() + waitMs
  const isReading = () => process.getActiveResourcesInfo().some((name) => /^FSReq/.test(name))
  const isStopped = exitCode === exitCodes.stopped
  while (isStopped && isReading() && performance.now() < until) await sleep(10)
  for (const signal of signals) process.removeAllListeners(signal) // from now on, a signal ends the process immediately
  if (isStopped && isReading()) process.kill(process.pid, 'SIGINT')
  else process.exit(exitCode)
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
  if (!error) void exit(exitCode)
})
