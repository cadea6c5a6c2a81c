import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export type Download = {
  /** A magnet, or the path of a torrent file. */
  torrent: string
  /** Where the file goes. */
  folder: string
  /** A folder for everything else that the client keeps. */
  home: string
}

export type RunningClient = {
  /** What it said, for whoever has to find out why it did not work. */
  output(): string
  isRunning(): boolean
  stop(): Promise<void>
}

/** Starts a client as its users have it, but for what leads off this machine: no DHT, no peers from the LAN, no open ports. */
export type StartClient = (program: string, download: Download) => Promise<RunningClient>

const keptOutput = 4_000

export function runProgram(program: string, args: string[], home: string): RunningClient {
  const child = spawn(program, args, {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' }, // without the settings, and the proxies, of who runs the tests
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
