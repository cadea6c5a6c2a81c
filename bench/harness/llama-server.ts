import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { freePort } from '../../testing/free-port.ts'
import { findProgram } from '../../testing/programs.ts'
import { builtLlamaServer } from './build-llama-server.ts'
import { untilAnswered } from './until-answered.ts'

export type InferenceServer = { url: string; pid: number }

/** Returns the path of llama.cpp's own server, either built or installed; undefined if there is none. */
export const findLlamaServer = (): string | undefined =>
  existsSync(builtLlamaServer) ? builtLlamaServer : findProgram('llama-server')

type Settings = { path: string; threads: number; contextLength: number; slots: number }

export async function startLlamaServer(
  program: string,
  { path, threads, contextLength, slots }: Settings,
): Promise<InferenceServer & AsyncDisposable> {
  const port = await freePort()
  const settings = {
    '--model': path,
    '--host': '127.0.0.1',
    '--port': port,
    '--threads': threads,
    '--threads-batch': threads,
    '--ctx-size': contextLength * slots,
    '--parallel': slots,
    '--n-gpu-layers': 0,
  }
  const child = spawn(program, Object.entries(settings).flat().map(String), { stdio: 'ignore' })
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const exited = once(child, 'exit').finally(() => process.off('exit', endWithUs))
  const failed = exited.then(([code, signal]) => {
    throw new Error(`${program} exited with ${code ?? signal} before it responded`)
  })
  await Promise.race([untilAnswered(`http://127.0.0.1:${port}/health`), failed])
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
