/**
 * All daemon settings. This module loads none of the server's code, so that help and docs can list the settings
 * quickly.
 */
import {
  choice,
  list,
  type Parse,
  port,
  setting,
  size,
  wholeNumber,
  word,
} from '@shoal/core/settings'
import { parseKeepAlive } from '@shoal/core/units'
import { readSecretFile } from '@shoal/files/secret'

const parseOrigin: Parse<string> = (text, refuse) => {
  if (URL.canParse(text) && new URL(text).origin !== 'null') return new URL(text).origin
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/]*$/.test(text)) return text // an app's origin, such as app://obsidian.md
  return refuse(`must be a list of origins such as http://localhost:3000, not "${text}"`)
}

/** Parses a keep-alive time. The result is in milliseconds; -1 means forever. */
const parseKeepAliveMs: Parse<number> = (text, refuse) => {
  const ms = parseKeepAlive(text)
  if (ms === undefined)
    return refuse(`must be a duration such as 5m or 2h, or the word forever, not "${text}"`)
  return Number.isFinite(ms) ? ms : -1
}

export const daemonSettings = {
  host: setting({
    variable: 'SHOAL_HOST',
    flag: '--host <address>',
    parse: word,
    default: '127.0.0.1',
    description: 'address to listen on',
  }),
  /** 0 picks a free port. */
  port: setting({
    variable: 'SHOAL_PORT',
    flag: '--port <number>',
    parse: port,
    default: '11434',
    description: 'port to listen on',
    details:
      "with `npm start`, use `--inference-port`, because `SHOAL_PORT` sets the registry's port. The pages of other registries link to port 11434, unless you set another address in the settings of these pages",
  }),
  /** The context length of one conversation, in tokens. */
  contextLength: setting({
    variable: 'SHOAL_CONTEXT_LENGTH',
    flag: '--context-length <tokens>',
    // A context of fewer than 64 tokens is useless in practice; no model supports more than 2 ** 24.
    parse: wholeNumber({ min: 64, max: 2 ** 24 }),
    defaultPhrase: 'up to 65536, depending on free memory',
    description: 'context length in tokens',
    details:
      "capped at the model's own context length. By default, the largest of 8192, 16384, 32768 and 65536 with which one conversation fits in a third of the memory that the loaded model leaves free",
  }),
  slots: setting({
    variable: 'SHOAL_SLOTS',
    flag: '--slots <number>',
    parse: wholeNumber({ min: 1, max: 256 }),
    default: '4',
    description: 'maximum number of concurrent conversations per model',
    details:
      'fewer if they do not all fit in memory. For each model, up to 64 more requests are queued; further requests get a 429 response',
  }),
  threads: setting({
    variable: 'SHOAL_THREADS',
    flag: '--threads <number>',
    parse: wholeNumber({ min: 1, max: 1024 }),
    defaultPhrase: 'up to one per core',
    description: 'number of compute threads',
    details:
      'by default, the number is adjusted while a model generates text, and is lower on a busy machine. A number that you set is not adjusted; more threads than free cores make models much slower',
  }),
  memoryBytes: setting({
    variable: 'SHOAL_MEMORY',
    flag: '--memory <size>',
    parse: size({ min: 1, example: '12GB' }),
    defaultPhrase: "85% of the machine's memory",
    description: 'maximum memory for all models together, such as `12GB`',
  }),
  keepAliveMs: setting({
    variable: 'SHOAL_KEEP_ALIVE',
    flag: '--keep-alive <time>',
    parse: parseKeepAliveMs,
    default: '5m',
    description:
      'how long an idle model stays loaded: a duration such as `90s`, `2h` or `7d`; `0` to unload it immediately; or `forever`',
  }),
  reasoningBudget: setting({
    variable: 'SHOAL_REASONING_BUDGET',
    flag: '--reasoning-budget <tokens>',
    parse: wholeNumber({ min: -1 }),
    default: '-1',
    description:
      'maximum number of tokens that a model thinks before it must answer; `-1` for no maximum',
    details: 'requests can contain another maximum',
  }),
  /** The flag's value is the path of a file that contains the key. */
  apiKey: setting({
    variable: 'SHOAL_API_KEY',
    readFile: readSecretFile,
    flag: '--api-key-file <file>',
    parse: word,
    description: 'API key that the daemon requires',
    details:
      '`--api-key-file` specifies a file that contains the key; commands that call a daemon send the key in `SHOAL_API_KEY`',
  }),
  listsAllModels: setting({
    variable: 'SHOAL_LIST_MODELS',
    parse: choice({ loaded: false, all: true }),
    default: 'loaded',
    description:
      'models in `GET /v1/models` without the parameter `all`: only the `loaded` ones, or `all` on this machine',
  }),
  refusesMedia: setting({
    variable: 'SHOAL_MEDIA',
    parse: choice({ note: false, refuse: true }),
    default: 'note',
    description:
      "what happens to images and documents in a conversation's history and in tool results, which models cannot read: `note` puts a note in their place, `refuse` refuses the request",
    details: "in the user's new message, they are always refused",
  }),
  /** Origins of web pages that may call the daemon, in addition to pages from this machine. */
  origins: setting({
    variable: 'SHOAL_ORIGINS',
    flag: '--origin <origin>',
    parse: list(parseOrigin),
    default: '',
    description:
      'origin of web pages allowed to call the daemon, such as `http://localhost:3000`; repeatable (in `SHOAL_ORIGINS`: separated by commas)',
  }),
}
