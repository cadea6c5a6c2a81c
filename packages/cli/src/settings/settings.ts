/** The CLI settings. The daemon's and the registry's settings are in their packages. */
import { homedir } from 'node:os'
import { delimiter, resolve } from 'node:path'
import { defaultRegistry } from '@shoal/core/references'
import { setting, word } from '@shoal/core/settings'
import { readSecretFile } from '@shoal/files/secret'
import { misuse } from '../terminal/failure.ts'
import { parseRates } from '../terminal/rate-schedule.ts'
import { parseRatio, wholeNumberParser } from '../terminal/units.ts'
import { daemonAddress, registryAddress } from './address.ts'

export const registry = setting({
  variable: 'SHOAL_REGISTRY',
  flag: '--registry <address>',
  saved: 'registry',
  parse: (text) => registryAddress(text),
  default: defaultRegistry,
  description: 'registry to use',
})

/** Parses a list of folders in the format of `PATH`. Returns absolute paths. */
function parseFolders(text: string): string[] {
  const folders = text.split(delimiter).map((folder) => folder.trim())
  // In an argument, a shell expands `~` only at the beginning, not in later items of the list.
  const paths = folders.map((folder) => folder.replace(/^~(?=[/\\]|$)/, homedir()))
  return [...new Set(paths.filter((path) => path !== '').map((path) => resolve(path)))]
}

export const modelFolders = setting({
  variable: 'SHOAL_MODEL_FOLDERS',
  saved: 'model-folders',
  parse: parseFolders,
  defaultPhrase: 'none',
  description: 'additional folders of GGUF files, which shoal lists and runs but never changes',
  details:
    'separated by `:` (`;` on Windows); see [read-only model folders](import.md#read-only-model-folders)',
})

export const cliSettings = {
  home: setting({
    variable: 'SHOAL_HOME',
    parse: (path) => path,
    defaultPhrase: "the system's folders for settings, data and state",
    description: "folder for all of shoal's files",
    details: 'contains `config`, `data` and `state`',
  }),
  registry,
  token: setting({
    variable: 'SHOAL_TOKEN',
    readFile: readSecretFile,
    parse(text, refuse) {
      const token = text.trim() // files and secret stores may add a line break
      return /^[\x21-\x7e]+$/.test(token)
        ? token
        : refuse('contains characters that are not allowed in a token')
    },
    defaultPhrase: 'the one saved by `shoal login`',
    description: 'API key or session token for the registry',
    details: 'not sent to other registries, such as one specified in a model reference',
  }),
  inference: setting({
    variable: 'SHOAL_INFERENCE',
    flag: '--inference <address>',
    parse: (text) => (text.trim() ? daemonAddress(text) : undefined),
    defaultPhrase: 'the one on this machine',
    description: 'daemon to use',
  }),
  modelFolders,
}

const onOrOff = (text: string): 'on' | 'off' => {
  const value = text.toLowerCase()
  if (value === 'on' || value === 'off') return value
  throw misuse(`“${text}” is neither “on” nor “off”.`)
}

const rateDetails =
  'shared by all commands of the user on this machine; can depend on the time of day: `2MB 8:00-18:00, 20MB`, where `off` means no limit'

/** Settings that `shoal config` can save, by their names in `config.json`. */
export const savedSettings = {
  registry,
  'model-folders': modelFolders,
  'limit-rate': setting({
    flag: '--limit-rate <speed>',
    saved: 'limit-rate',
    parse: parseRates,
    defaultPhrase: 'no limit',
    description: 'maximum bytes per second for pull and push, such as `10MB`',
    details: rateDetails,
  }),
  connections: setting({
    flag: '--connections <number>',
    saved: 'connections',
    parse: wholeNumberParser(1, 64),
    defaultPhrase: '8 for pull, 5 for push',
    description: 'maximum number of connections for pull and push, from 1 to 64',
  }),
  peers: setting({
    saved: 'peers',
    parse: onOrOff,
    default: 'on',
    description:
      'whether pull, seed and serve exchange data with peers, which can see your IP address',
    details: 'overridden by `--no-peers` and `--only-peers`',
  }),
  'limit-upload': setting({
    flag: '--limit-upload <speed>',
    saved: 'limit-upload',
    parse: parseRates,
    defaultPhrase: 'no limit',
    description: 'maximum bytes per second to send to peers, such as `1MB`',
    details: rateDetails,
  }),
  ratio: setting({
    flag: '--ratio <number>',
    saved: 'ratio',
    parse: parseRatio,
    defaultPhrase: 'no limit',
    description: 'maximum upload per file, as a multiple of the file size, such as `2`',
  }),
  'local-peers': setting({
    saved: 'local-peers',
    parse: onOrOff,
    default: 'on',
    description: 'whether to announce files on the local network and find peers there',
  }),
}

/** Settings that `shoal serve` has in addition to the daemon's. */
export const serveSettings = {
  models: setting({
    flag: '--models <folder>',
    parse: (path) => path,
    defaultPhrase: 'a folder named `models` in the data folder',
    description: 'folder for the models',
    details:
      "can be a symbolic link. The data folder is `data` in `SHOAL_HOME`, if that is set, or else the system's data folder, such as `~/.local/share/shoal`",
  }),
  model: setting({
    flag: '--model <model[:quant]>',
    parse: word,
    description: 'model to load at startup and keep loaded',
  }),
  log: setting({
    flag: '--log <file>',
    parse: (path) => path,
    defaultPhrase: '`daemon.log` in the state folder',
    description: 'log file, or `-` for stdout',
  }),
}
