import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { InferenceServer } from './llama-server.ts'
import { shoalProgram } from './shoal.ts'

type Settings = {
  /** The folder with the models. The daemon's own files are in the folder `shoal` in it. */
  models: string
  /** The number of threads; if undefined, the daemon chooses and adapts the number. */
  threads: number | undefined
  contextLength: number
  /** The number of concurrent conversations; if undefined, the daemon's default. */
  slots?: number
}

/** Runs `shoal serve` with default settings, except for the given ones. */
export async function startDaemon({
  models,
  threads,
  contextLength,
  slots,
}: Settings): Promise<InferenceServer & AsyncDisposable> {
  const settings = {
    '--port': 0,
    '--models': models,
    '--context-length': contextLength,
    ...(threads !== undefined && { '--threads': threads }),
    ...(slots !== undefined && { '--slots': slots }),
  }
  const words = ['serve', '--json', ...Object.entries(settings).flat().map(String)]
  const child = spawn(process.execPath, [shoalProgram, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, SHOAL_HOME: join(models, 'shoal') },
  })
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const exited = once(child, 'exit').finally(() => process.off('exit', endWithUs))
  const failed = exited.then(([code, signal]) => {
    throw new Error(`shoal serve exited with ${code ?? signal}`)
  })
  const url = await Promise.race([readUrl(child.stdout), failed])
  return {
    url,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function readUrl(output: Readable): Promise<string> {
  for await (const line of createInterface(output)) {
    const found = /^ {2}"url": (.*),$/.exec(line)?.[1]
    if (found !== undefined) return JSON.parse(found)
  }
  throw new Error('shoal serve printed no URL')
}
