import { readFile, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { daemonSettings } from '@shoal/daemon/settings'
import { ignoreMissing, writeWhole } from '@shoal/files'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import {
  addServeOptions,
  formatTypedFlags,
  readServeConfig,
  type ServeOptions,
} from '../daemon/serve-options.ts'
import { findRunningDaemon } from '../daemon/state-file.ts'
import { openServiceManager, type ServiceManager } from '../service/service-manager.ts'
import {
  carriedVariables,
  findProgram,
  refuseControls,
  type ServiceCommand,
} from '../service/service-words.ts'
import { marker } from '../service/systemd-unit.ts'
import { readPlaces } from '../settings/places.ts'
import { Failure } from '../terminal/failure.ts'

export function serviceCommand(open: OpenContext): Command {
  const service = new Command('service').description(
    'start the daemon when you log in to this machine',
  )
  const add = (name: string, description: string) => service.command(name).description(description)

  const command = add(
    'install',
    'install and start the service; takes the options of `shoal serve`',
  )
  // A secret is not written to the service file, so `SHOAL_API_KEY` is ignored.
  const { apiKey: _, ...settings } = daemonSettings
  addServeOptions(command, Object.values(settings)).action(async (options: ServeOptions) => {
    const context = await open()
    const manager = openServiceManager(context.environment.env)
    await install(context, manager, await serviceOf(context, command, options))
  })

  add('uninstall', 'stop the service and remove it').action(async () => {
    const context = await open()
    const { printer, environment } = context
    const manager = openServiceManager(environment.env)
    const { file } = manager
    const present = await readPresent(file)
    if (present === undefined) printer.note('The service is not installed.')
    else {
      refuseForeign(file, present)
      const isReachable = await manager.isReachable()
      if (isReachable) await manager.stop()
      await rm(file)
      if (isReachable) await manager.forget()
      printer.success(`Removed ${file}.`)
      if (!isReachable) printer.note('  To stop the daemon, if it is running: shoal stop')
    }
    await printer.answer({ file, removed: present !== undefined }, () => [])
  })

  add('status', 'show whether the service is installed and running').action(async () => {
    const context = await open()
    const { printer, environment } = context
    const manager = openServiceManager(environment.env)
    const { file } = manager
    const present = await readPresent(file)
    const isInstalled = present !== undefined
    const isReachable = await manager.isReachable()
    const isEnabled = isReachable ? isInstalled && (await manager.isEnabled()) : null
    const isRunning = isReachable ? isInstalled && (await manager.isRunning()) : null
    const daemon = await findRunningDaemon(placesOf(context, manager, present))
    const document = {
      file,
      installed: isInstalled,
      enabled: isEnabled,
      running: isRunning,
      daemon: daemon ? { url: daemon.url, pid: daemon.pid } : null,
    }
    await printer.answer(document, () => [
      `  File       ${file}${isInstalled ? '' : '     does not exist'}`,
      `  Enabled    ${yesOrNo(isEnabled)}`,
      `  Running    ${yesOrNo(isRunning)}`,
      `  Daemon     ${daemon ? `responds at ${daemon.url}` : 'does not respond'}`,
    ])
  })

  return service
}

/** Returns the folders of the service's daemon. Its SHOAL_HOME may differ from that of this command. */
function placesOf({ places }: Context, manager: ServiceManager, present: string | undefined) {
  if (present === undefined) return places
  return readPlaces({ SHOAL_HOME: manager.readVariable(present, 'SHOAL_HOME') })
}

const yesOrNo = (value: boolean | null) =>
  value === null ? 'unknown: the service manager cannot be reached' : value ? 'yes' : 'no'

async function install(context: Context, manager: ServiceManager, command: ServiceCommand) {
  const { printer, asker, places } = context
  const { file } = manager
  const text = manager.write(command)
  const present = await readPresent(file)
  if (present !== undefined) refuseForeign(file, present)
  const isReachable = await manager.isReachable()
  const running = await findRunningDaemon(places)
  if (isReachable && running && !(await manager.isRunning())) {
    const { url, pid } = running
    throw new Failure('failed', `A daemon is already running at ${url} (process ${pid}).`, {
      hint: 'Stop it first: shoal stop',
      details: { url, pid },
    })
  }
  const isChanged = present !== text
  if (isChanged && present !== undefined) {
    await asker.confirm(`Replace ${file}, which was written with other options or changed by hand?`)
  }
  if (isChanged) await writeWhole(file, text)
  for (const line of text.trimEnd().split('\n')) printer.note(line)
  printer.success(`${isChanged ? 'Wrote' : 'Unchanged:'} ${file}`)
  if (isReachable && (isChanged || !(await manager.isRunning()))) await manager.start()
  if (isReachable) printer.success('The service is enabled and started.')
  else {
    printer.warn('The service manager cannot be reached, so the service was not started.')
    for (const line of ['To start it:', ...manager.startCommands.map((one) => `  ${one}`)]) {
      printer.note(`  ${line}`)
    }
  }
  printer.note(`  ${manager.note}`)
  await printer.answer({ file, changed: isChanged, started: isReachable }, () => file)
}

/** Validates the options, and returns the command line and the environment of the service. */
async function serviceOf(
  context: Context,
  command: Command,
  options: ServeOptions,
): Promise<ServiceCommand> {
  const { environment, printer } = context
  await readServeConfig(context, options)
  const { carried, leftOut } = carriedVariables(environment.env)
  for (const name of leftOut) {
    printer.warn(`${name} is a secret, so it is not written to the service file.`)
  }
  const { registry, cacert } = context.options
  const program = await findProgram(environment.programFolder ?? import.meta.dirname)
  const service = {
    words: [
      ...program,
      'serve',
      ...(registry === undefined ? [] : [`--registry=${context.registryAddress}`]),
      ...(cacert === undefined ? [] : [`--cacert=${resolve(cacert)}`]),
      ...formatTypedFlags(command).map((word) => withAbsolutePath(command, word)),
    ],
    env: carried,
  }
  refuseControls(service)
  return service
}

/** Makes a path absolute, because the service does not run in the folder of this command. */
function withAbsolutePath(command: Command, word: string): string {
  const [, flag, value] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? []
  const isPath = command.options.some(
    ({ long, flags }) => long === flag && /<(file|folder)>/.test(flags),
  )
  return isPath && value !== undefined && value !== '-' ? `${flag}=${resolve(value)}` : word
}

async function readPresent(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch(ignoreMissing)
}

function refuseForeign(file: string, text: string): void {
  if (text.split('\n', 2).some((line) => line.includes(marker))) return
  throw new Failure('failed', `${file} was not written by shoal.`, {
    hint: 'Nothing was changed. Move the file elsewhere, then try again.',
  })
}
