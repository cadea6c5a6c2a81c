/** The program that starts the user's services: systemd on Linux, launchd on macOS. */
import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isErrno } from '@shoal/files'
import type { Environment } from '../environment.ts'
import { Failure } from '../terminal/failure.ts'
import { agentLabel, launchdAgent, readAgentVariable } from './launchd-agent.ts'
import type { ServiceCommand } from './service-words.ts'
import { readUnitVariable, systemdUnit } from './systemd-unit.ts'

export interface ServiceManager {
  /** The path of the service's file. */
  readonly file: string
  /** The content of the file. */
  write(command: ServiceCommand): string
  /** The value of a variable according to the content of the file; undefined if the file does not set it. */
  readVariable(content: string, name: string): string | undefined
  /** Whether the manager can be reached. It often cannot be reached from a container or under `sudo`. */
  isReachable(): Promise<boolean>
  /** Enables and starts the service. A running service is restarted, because its file may have changed. */
  start(): Promise<void>
  /** Stops and disables the service. Must be called before its file is removed. */
  stop(): Promise<void>
  /** Makes the manager forget the service. Must be called after its file has been removed. */
  forget(): Promise<void>
  isEnabled(): Promise<boolean>
  isRunning(): Promise<boolean>
  /** The commands that the user can run to start the service if the manager cannot be reached. */
  readonly startCommands: readonly string[]
  /** Additional information for the user. */
  readonly note: string
}

/**
 * Returns the service manager of the system, without checking whether it can be reached.
 * @throws `failed` on a system that `shoal service` does not support
 */
export function openServiceManager(
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): ServiceManager {
  const home = env.HOME || homedir()
  if (platform === 'linux') return systemd(env, home)
  if (platform === 'darwin') return launchd(env, home)
  throw new Failure('failed', 'shoal service works on Linux and macOS only.', {
    hint: 'To run the daemon in the background: shoal serve --detach. To start it when you sign in, add this command to the Task Scheduler.',
  })
}

const unit = 'shoal.service'

function systemd(env: Environment, home: string): ServiceManager {
  const ask = (...words: string[]) => run('systemctl', ['--user', ...words], env)
  const tell = (...words: string[]) => mustRun('systemctl', ['--user', ...words], env)
  return {
    file: join(env.XDG_CONFIG_HOME || join(home, '.config'), 'systemd', 'user', unit),
    write: systemdUnit,
    readVariable: readUnitVariable,
    isReachable: async () => (await ask('show', '--property=Version')).exitCode === 0,
    async start() {
      await tell('daemon-reload')
      await tell('enable', unit)
      await tell('restart', unit)
    },
    stop: () => tell('disable', '--now', unit),
    forget: () => tell('daemon-reload'),
    isEnabled: async () => (await ask('is-enabled', unit)).exitCode === 0,
    isRunning: async () => (await ask('is-active', unit)).exitCode === 0,
    startCommands: ['systemctl --user daemon-reload', `systemctl --user enable --now ${unit}`],
    note: 'The service runs while you are signed in. To start it at boot: loginctl enable-linger',
  }
}

function launchd(env: Environment, home: string): ServiceManager {
  const domain = `gui/${process.getuid?.() ?? 0}`
  const service = `${domain}/${agentLabel}`
  const file = join(home, 'Library', 'LaunchAgents', `${agentLabel}.plist`)
  const isLoaded = async () => (await run('launchctl', ['print', service], env)).exitCode === 0
  const unload = async () => {
    if (await isLoaded()) await mustRun('launchctl', ['bootout', service], env)
  }
  return {
    file,
    write: (command) => launchdAgent(command, join(home, 'Library', 'Logs', 'shoal-service.log')),
    readVariable: readAgentVariable,
    isReachable: async () => (await run('launchctl', ['print', domain], env)).exitCode === 0,
    async start() {
      await unload()
      await mustRun('launchctl', ['bootstrap', domain, file], env)
    },
    stop: unload,
    forget: async () => undefined,
    isEnabled: isLoaded,
    isRunning: async () =>
      /^\s*state = running$/m.test((await run('launchctl', ['print', service], env)).stdout),
    startCommands: [`launchctl bootstrap ${domain} '${file}'`],
    note: 'The service runs while you are signed in. It has not been tested on macOS. Please report any problems.',
  }
}

type Ended = { exitCode: number; stdout: string; stderr: string }

/** Runs a program. The exit code is 127 if the program does not exist. */
function run(program: string, words: readonly string[], env: Environment): Promise<Ended> {
  return new Promise((resolve, reject) => {
    execFile(program, words, { env, timeout: 90_000 }, (error, stdout, stderr) => {
      if (error === null) resolve({ exitCode: 0, stdout, stderr })
      else if (isErrno(error, 'ENOENT')) resolve({ exitCode: 127, stdout, stderr: error.message })
      else if (typeof error.code === 'number') resolve({ exitCode: error.code, stdout, stderr })
      else reject(error)
    })
  })
}

async function mustRun(program: string, words: readonly string[], env: Environment) {
  const { exitCode, stderr } = await run(program, words, env)
  if (exitCode === 0) return
  throw new Failure(
    'failed',
    `${[program, ...words].join(' ')} ended with exit code ${exitCode}.`,
    {
      hint: stderr.trim() || undefined,
    },
  )
}
