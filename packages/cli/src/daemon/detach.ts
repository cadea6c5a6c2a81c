/** Starts a daemon in a separate process, which outlives this process and its terminal. */

import { type ChildProcess, spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Ending, exitCodes } from '@shoal/core/errors/table'
import { makeFolder } from '@shoal/files'
import type { Environment } from '../environment.ts'
import { Failure } from '../terminal/failure.ts'
import { putOldLogAside } from './log-file.ts'

const binPath = fileURLToPath(new URL('../../bin/shoal.js', import.meta.url))

type Options = {
  /** The command and its options. */
  words: readonly string[]
  env: Environment
  /** The file to which the stderr output of the process and its models is appended. */
  logFile: string
  /** If this signal fires before the daemon is ready, the process receives SIGTERM. */
  signal: AbortSignal
}

/**
 * Resolves to the document that the daemon prints when it is ready. Rejects with the failure that the daemon reports.
 */
export async function startInBackground<T>({ words, env, logFile, signal }: Options): Promise<T> {
  signal.throwIfAborted()
  makeFolder(dirname(logFile))
  await putOldLogAside(logFile)
  await using log = await open(logFile, 'a')
  const child = spawn(process.execPath, [binPath, ...words, '--json'], {
    detached: true,
    windowsHide: true, // otherwise, Windows opens a console window
    env: { ...env },
    stdio: ['ignore', 'pipe', log.fd],
  })
  const onAbort = () => child.kill('SIGTERM')
  signal.addEventListener('abort', onAbort, { once: true })
  const document = await firstDocument(child)
  signal.removeEventListener('abort', onAbort)
  signal.throwIfAborted()
  child.stdout?.destroy()
  child.unref()
  return unwrapDocument<T>(document, logFile)
}

type ChildDocument = { error?: { code: string; message: string; hint?: string } }

/** Resolves to the first document that the child prints on stdout, or to undefined if it exits without printing one. */
function firstDocument(child: ChildProcess): Promise<ChildDocument | undefined> {
  const { stdout } = child
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    let text = ''
    stdout?.setEncoding('utf8')
    stdout?.on('data', (chunk: string) => {
      text += chunk
      // A document ends with a closing brace at the start of a line.
      if (/^\}\n/m.test(text)) resolve(JSON.parse(text) as ChildDocument)
    })
    stdout?.on('end', () => resolve(undefined))
    stdout?.on('error', reject)
  })
}

function unwrapDocument<T>(document: ChildDocument | undefined, logFile: string): T {
  if (document === undefined) {
    throw new Failure('failed', 'The daemon exited during startup.', {
      hint: `For the reason, see the daemon's log: ${logFile}`,
    })
  }
  const { error } = document
  if (!error) return document as T
  const { code, message, hint, ...details } = error
  const known = code in exitCodes ? (code as Ending) : 'failed'
  throw new Failure(known, message, { hint, details })
}
