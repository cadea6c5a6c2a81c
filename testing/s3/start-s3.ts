import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { needProgram } from '../programs.ts'
import { removeDirectorySync } from '../remove-directory.ts'
import { isCephInstalled, type S3Address, startCeph } from './start-ceph.ts'

export type { S3Address } from './start-ceph.ts'

/** A real S3 server: Ceph’s gateway (radosgw), with a monitor and an object store in memory behind it. */
export type S3Server = {
  address: S3Address
  /** The folder with the server's configuration and logs. */
  directory: string
  /** Stops only the gateway. The store behind it keeps the objects. */
  stopGateway(): Promise<void>
  startGateway(): Promise<void>
  /** Suspends the gateway (SIGSTOP): connections stay open, and new ones can be opened, but no request is answered. */
  pauseGateway(): void
  resumeGateway(): void
  stop(): Promise<void>
  /** Kills the processes and removes their folder synchronously, for `exit` handlers. */
  abandon(): void
}

const run = (program: string, options: string[]) =>
  promisify(execFile)(needProgram(program), options)
const stopTimeoutMs = 5_000

/** Starts an S3 server in a temporary folder. Returns undefined if its programs are not installed. */
export async function startS3({ memoryBytes = 4 * 1024 ** 3 } = {}): Promise<S3Server | undefined> {
  if (!isCephInstalled()) return undefined
  const directory = mkdtempSync(join(tmpdir(), 'shoal-s3-'))
  const processes = new Map<string, ChildProcess>()

  const launch = (program: string, options: string[]) => {
    const child = spawn(needProgram(program), options, { stdio: 'ignore' })
    processes.set(program, child)
    return () => isRunning(child)
  }
  const end = async (program: string) => {
    const child = processes.get(program)
    processes.delete(program)
    if (!child || !isRunning(child)) return
    const exited = once(child, 'exit')
    child.kill()
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    await exited
    clearTimeout(timer)
  }
  const abandon = () => {
    for (const child of processes.values()) child.kill('SIGKILL')
    removeDirectorySync(directory)
  }
  const stop = async () => {
    process.off('exit', abandon)
    for (const program of ['radosgw', 'ceph-osd', 'ceph-mon']) await end(program)
    rmSync(directory, { recursive: true, force: true })
  }

  process.once('exit', abandon)
  try {
    const started = await startCeph({ directory, bucket: 'tests', memoryBytes, launch, run })
    return {
      ...started,
      directory,
      stopGateway: () => end('radosgw'),
      pauseGateway: () => processes.get('radosgw')?.kill('SIGSTOP'),
      resumeGateway: () => processes.get('radosgw')?.kill('SIGCONT'),
      stop,
      abandon,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const isRunning = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode === null && signalCode === null
