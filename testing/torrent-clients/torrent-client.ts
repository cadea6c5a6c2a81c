import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export type Download = {
  /** A magnet link, or the path of a torrent file. */
  torrent: string
  /** The folder for the downloaded file. */
  folder: string
  /** A folder for the client's other files. */
  home: string
}

export type RunningClient = {
  /** Returns the client's latest output, which may explain a failure. */
  output(): string
  isRunning(): boolean
  stop(): Promise<void>
}

/**
 * Starts a client with its default settings, except that DHT, local peer discovery and port forwarding are off, so that
 * the client contacts no other machine.
 */
export type StartClient = (program: string, download: Download) => Promise<RunningClient>

const keptOutput = 4_000

export function runProgram(program: string, args: string[], home: string): RunningClient {
  const child = spawn(program, args, {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' }, // without the user's settings and proxies
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  let said = ''
  const listen = (text: Buffer) => {
    said = (said + text).slice(-keptOutput)
  }
  child.stdout.on('data', listen)
  child.stderr.on('data', listen)
  return {
    output: () => said,
    isRunning: () => isRunning(child),
    async stop() {
      endWithUs()
      await ended
      process.off('exit', endWithUs)
    },
  }
}

const isRunning = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode === null && signalCode === null
