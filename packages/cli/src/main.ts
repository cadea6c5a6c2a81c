/** The process: its streams, its environment and its signals go in, an exit code comes out. */

import { totalmem } from 'node:os'
import { exitCodes } from '@shoal/core/errors/table'
import { runCommandLine } from './run.ts'

/** npm and npx pass on the Ctrl-C that the terminal has sent us already: what follows so soon is the same one. */
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
  // The reader of stderr has gone: the command continues, and a server still shuts down gracefully.
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') endWithoutReader(error)
})

/** Nothing more can be told to whoever reads: what was to be said is lost. */
function endWithoutReader(error: NodeJS.ErrnoException): never {
  // The reader went away, as `head` does: whoever reads no further wants no complaint.
  if (error.code === 'EPIPE') process.exit(0)
  const isFull = error.code === 'ENOSPC' || error.code === 'EDQUOT'
  const why = isFull ? 'the disk is full' : error.message
  process.stderr.write(`✗ The output cannot be written: ${why}.\n`)
  process.exit(isFull ? exitCodes.no_room : exitCodes.failed)
}

const exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  stopSignal: stop.signal,
  // 0 or an enormous number where the system sets no limit on the process.
  memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
})
// Not only `process.exitCode`: a connection kept alive would hold the shell's prompt back. A failed write tells of itself.
process.stdout.write('', (error) => {
  if (!error) process.exit(exitCode)
})
