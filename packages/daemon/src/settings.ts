/** Every setting of a daemon. It loads nothing of the server, so that help and docs can print it. */
import { list, type Parse, port, setting, size, wholeNumber, word } from '@shoal/core/settings'
import { parseKeepAlive } from '@shoal/core/units'

const parseOrigin: Parse<string> = (text, refuse) => {
  if (URL.canParse(text) && new URL(text).origin !== 'null') return new URL(text).origin
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/]*$/.test(text)) return text // of an app, such as app://obsidian.md
  return refuse(`holds origins such as http://localhost:3000, not "${text}"`)
}

/** Milliseconds; -1 forever. */
const parseKeepAliveMs: Parse<number> = (text, refuse) => {
  const ms = parseKeepAlive(text)
  if (ms === undefined) return refuse(`is a time such as 5m, 2h or forever, not "${text}"`)
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
  /** 0 takes a port that the system gives. */
  port: setting({
    variable: 'SHOAL_PORT',
    flag: '--port <number>',
    parse: port,
    default: '11434',
    description: 'port to listen on',
    details:
      "under `npm start` it is `--inference-port`, and the variable is the registry's; its pages send visitors of the same machine there",
  }),
  /** Tokens of one conversation. */
  contextLength: setting({
    variable: 'SHOAL_CONTEXT_LENGTH',
    flag: '--context-length <tokens>',
    // Below this no model answers a sentence; above it no model was made.
    parse: wholeNumber({ min: 64, max: 2 ** 24 }),
    default: '8192',
    description: 'tokens of a conversation',
    details: 'never more than the model was made for',
  }),
  slots: setting({
    variable: 'SHOAL_SLOTS',
    flag: '--slots <number>',
    parse: wholeNumber({ min: 1, max: 256 }),
    default: '4',
    description: 'conversations of a model at a time',
    details: 'fewer if memory is short. 64 more requests wait, further ones get 429',
  }),
  threads: setting({
    variable: 'SHOAL_THREADS',
    flag: '--threads <number>',
    parse: wholeNumber({ min: 1, max: 1024 }),
    defaultPhrase: 'up to one for each core',
    description: 'threads that compute',
    details:
      'the default is chosen again while a model answers: fewer on a busy machine. A number given here is not changed; more than there are free cores is far slower',
  }),
  memoryBytes: setting({
    variable: 'SHOAL_MEMORY',
    flag: '--memory <size>',
    parse: size({ min: 1, example: '12GB' }),
    defaultPhrase: "85 % of the machine's",
    description: 'memory for all models together, such as `12GB`',
  }),
  keepAliveMs: setting({
    variable: 'SHOAL_KEEP_ALIVE',
    flag: '--keep-alive <time>',
    parse: parseKeepAliveMs,
    default: '5m',
    description: 'how long an idle model stays: `90s`, `2h`, `7d`, `0`, `forever`',
  }),
  /** The flag names a file that holds the key. */
  apiKey: setting({
    variable: 'SHOAL_API_KEY',
    flag: '--api-key-file <file>',
    parse: word,
    description: 'API key that every call to the daemon must carry',
    details: 'commands that call a daemon send the variable',
  }),
  /** Web pages that may call, besides those of this machine. */
  origins: setting({
    variable: 'SHOAL_ORIGINS',
    flag: '--origin <origin>',
    parse: list(parseOrigin),
    default: '',
    description: 'web pages that may call, such as `http://localhost:3000`; repeatable',
    details: 'in the variable they are separated by commas',
  }),
}
