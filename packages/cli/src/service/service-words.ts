/** The command line and the environment of the daemon that a service manager starts. */
import { access } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Setting, variablesOf } from '@shoal/core/settings'
import { daemonSettings } from '@shoal/daemon/settings'
import { isErrno } from '@shoal/files'
import { networkSettings } from '@shoal/network'
import { findInstallation } from '@shoal/releases/upgrade'
import type { Environment } from '../environment.ts'
import { cliSettings } from '../settings/settings.ts'
import { Failure } from '../terminal/failure.ts'

/** The program that a service manager starts, with its environment. */
export type ServiceCommand = {
  /** The program's absolute path and its arguments. */
  words: readonly string[]
  env: Readonly<Record<string, string>>
}

/**
 * Returns the command that starts this installation of shoal. If `shoal upgrade` can update the installation, returns
 * its symbolic link, so that the service uses the new version after an upgrade.
 */
export async function findProgram(programFolder: string): Promise<string[]> {
  const installation = await findInstallation(programFolder)
  if (installation) return [resolve(installation.command)]
  // In an archive or a Debian package, the script uses the Node executable and the libraries that are next to it.
  for (let at = programFolder; dirname(at) !== at; at = dirname(at)) {
    const script = join(at, 'bin', 'shoal')
    if ((await isThere(script)) && (await isThere(join(at, 'node', 'bin', 'node')))) return [script]
  }
  return [process.execPath, fileURLToPath(new URL('../../bin/shoal.js', import.meta.url))]
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: unknown) => {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return false
      throw error
    },
  )
}

const folders = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME']
const secrets = [cliSettings.token, daemonSettings.apiKey].flatMap(({ variable }) => variable ?? [])

/** Returns the variables to pass on to the service, and the names of the secret variables, which are left out. */
export function carriedVariables(env: Environment): {
  carried: Record<string, string>
  leftOut: string[]
} {
  const settings = [
    cliSettings.home,
    cliSettings.registry,
    cliSettings.token,
    cliSettings.modelFolders,
    ...Object.values(daemonSettings),
  ]
  const names = [...settings, ...Object.values(networkSettings)].flatMap((one: Setting<unknown>) =>
    variablesOf(one),
  )
  const wanted = [...new Set([...names, ...folders])].filter((name) => !secrets.includes(name))
  const carried = wanted.flatMap((name) => {
    const value = env[name]
    const isPath = name === cliSettings.home.variable || name.endsWith('_FILE')
    return value ? [[name, isPath ? resolve(value) : value]] : []
  })
  return { carried: Object.fromEntries(carried), leftOut: secrets.filter((name) => env[name]) }
}

/** @throws `usage` if a value cannot be written to a service's file */
export function refuseControls({ words, env }: ServiceCommand): void {
  for (const text of [...words, ...Object.values(env)]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a line break would start another directive
    if (!/[\x00-\x1f\x7f]/.test(text)) continue
    throw new Failure('usage', `${JSON.stringify(text)} contains a control character.`)
  }
}
