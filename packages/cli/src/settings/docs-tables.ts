/** The settings tables in the docs. `npm run docs` updates them. */
import { flagName, type Setting, variablesOf } from '@shoal/core/settings'
import { daemonSettings } from '@shoal/daemon/settings'
import { networkSettings } from '@shoal/network'
import { registrySettings, s3Settings } from '@shoal/registry/settings'
import { cliSettings, savedSettings, serveSettings } from './settings.ts'

type Row = Setting<unknown>

const columns = {
  flag: ({ flag }: Row) => flag && code(flagName(flag)),
  variable: (row: Row) => variablesOf(row).map(code).join(', '),
  setting: ({ saved }: Row) => saved && code(saved),
  default: (row: Row) => row.defaultPhrase ?? (row.default ? code(row.default) : 'none'),
  description: ({ description }: Row) => description,
  meaning: ({ description, details }: Row) => [description, details].filter(Boolean).join('; '),
}

const code = (text: string) => `\`${text}\``

function table(names: (keyof typeof columns)[], rows: Row[]): string {
  const line = (cells: (string | undefined)[]) =>
    `| ${cells.map((cell) => cell ?? '').join(' | ')} |`
  return [
    line(names),
    `|${'---|'.repeat(names.length)}`,
    ...rows.map((row) => line(names.map((name) => columns[name](row)))),
  ].join('\n')
}

const { host, port, ...otherDaemonSettings } = daemonSettings
const { model, models, log } = serveSettings
/** `--api-key-file` is omitted, because only commands that start a daemon have it. */
const { flag: _flag, details: _details, ...apiKey } = daemonSettings.apiKey
const apiKeyToSend: Row = { ...apiKey, description: 'API key to send to the daemon' }
const { rateLimits, isRegistrationOpen, isAnonymousReadAllowed, quotaBytes } = registrySettings

/** The tables by name. In a document, a comment with the name marks where the table belongs. */
const tables: Record<string, string> = {
  registry: table(['flag', 'variable', 'default', 'meaning'], Object.values(registrySettings)),
  'registry in short': table(
    ['variable', 'default', 'description'],
    [
      registrySettings.host,
      registrySettings.port,
      registrySettings.baseUrl,
      registrySettings.dataDirectory,
      registrySettings.databaseUrl,
      isRegistrationOpen,
      isAnonymousReadAllowed,
      quotaBytes,
      rateLimits,
    ],
  ),
  s3: table(['variable', 'default', 'meaning'], Object.values(s3Settings)),
  daemon: table(
    ['flag', 'variable', 'default', 'meaning'],
    [host, port, models, model, ...Object.values(otherDaemonSettings), log],
  ),
  'command line': table(
    ['flag', 'variable', 'default', 'meaning'],
    [...Object.values(cliSettings), apiKeyToSend, ...Object.values(networkSettings)],
  ),
  saved: table(['setting', 'flag', 'default', 'meaning'], Object.values(savedSettings)),
}

/** Returns the document with its tables updated. Throws if the document contains a comment for an unknown table. */
export function withTables(document: string): string {
  return document.replaceAll(
    /(<!-- settings: (.+?) -->\n).*?(<!-- end of settings -->)/gs,
    (_, begin: string, name: string, end: string) => {
      const printed = tables[name]
      if (printed === undefined) throw new Error(`unknown settings table: ${name}`)
      return `${begin}${printed}\n${end}`
    },
  )
}
