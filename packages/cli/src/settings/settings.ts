/** The settings of the command line. Those of the programs that it starts are in their packages. */
import { setting, word } from '@shoal/core/settings'
import { misuse } from '../terminal/failure.ts'
import { parseByteRate, parseRatio, wholeNumberParser } from '../terminal/units.ts'
import { daemonAddress, registryAddress } from './address.ts'

export const defaultRegistry = 'http://localhost:8000'

export const registry = setting({
  variable: 'SHOAL_REGISTRY',
  flag: '--registry <address>',
  saved: 'registry',
  parse: (text) => registryAddress(text),
  default: defaultRegistry,
  description: 'registry that commands talk to',
})

export const cliSettings = {
  home: setting({
    variable: 'SHOAL_HOME',
    parse: (path) => path,
    defaultPhrase: "the system's folders for settings, data and state",
    description: 'folder of everything that shoal keeps for you',
    details: '`config`, `data` and `state` are in it',
  }),
  registry,
  token: setting({
    variable: 'SHOAL_TOKEN',
    parse(text, refuse) {
      const token = text.trim() // a file or a secret store may add blanks at the end
      return /^[\x21-\x7e]+$/.test(token) ? token : refuse('holds characters that no token has')
    },
    defaultPhrase: 'that of `shoal login`',
    description: 'API key or session token for the registry',
    details: 'not sent to a registry that is named in a model reference',
  }),
  inference: setting({
    variable: 'SHOAL_INFERENCE',
    flag: '--inference <address>',
    parse: (text) => (text.trim() ? daemonAddress(text) : undefined),
    defaultPhrase: 'the one that runs here',
    description: 'daemon to talk to',
  }),
}

const onOrOff = (text: string): 'on' | 'off' => {
  const value = text.toLowerCase()
  if (value === 'on' || value === 'off') return value
  throw misuse(`“${text}” is neither on nor off.`)
}

/** Those that `shoal config` saves, by the names in its file. */
export const savedSettings = {
  registry,
  'limit-rate': setting({
    flag: '--limit-rate <speed>',
    saved: 'limit-rate',
    parse: parseByteRate,
    defaultPhrase: 'no limit',
    description: 'most bytes a second that pull and push transfer, such as `10MB`',
  }),
  connections: setting({
    flag: '--connections <number>',
    saved: 'connections',
    parse: wholeNumberParser(1, 64),
    defaultPhrase: '8 for pull, 5 for push',
    description: 'connections that pull and push open, from 1 to 64',
  }),
  peers: setting({
    saved: 'peers',
    parse: onOrOff,
    default: 'on',
    description: 'whether pull and serve exchange data with peers, who see your IP address',
    details: '`--no-peers` and `--only-peers` override it',
  }),
  'limit-upload': setting({
    flag: '--limit-upload <speed>',
    saved: 'limit-upload',
    parse: parseByteRate,
    defaultPhrase: 'no limit',
    description: 'most bytes a second that peers are sent, such as `1MB`',
  }),
  ratio: setting({
    flag: '--ratio <number>',
    saved: 'ratio',
    parse: parseRatio,
    defaultPhrase: 'no limit',
    description: 'how many times its size a file is sent to peers at most, such as `2`',
  }),
  'local-peers': setting({
    saved: 'local-peers',
    parse: onOrOff,
    default: 'on',
    description: 'whether to look for peers on the local network',
  }),
}

/** What `shoal serve` takes besides the settings of the daemon. */
export const serveSettings = {
  models: setting({
    flag: '--models <folder>',
    parse: (path) => path,
    defaultPhrase: '`models` in the data folder',
    description: 'folder of the models',
    details:
      'it may be a symbolic link. The data folder is `data` under `SHOAL_HOME`, or the system has one, such as `~/.local/share/shoal`',
  }),
  model: setting({
    flag: '--model <model[:quant]>',
    parse: word,
    description: 'model to load at the start, and to keep loaded',
  }),
  log: setting({
    flag: '--log <file>',
    parse: (path) => path,
    defaultPhrase: '`daemon.log` in the state folder',
    description: 'log file, or `-` for stdout',
  }),
}
