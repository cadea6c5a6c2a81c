/**
 * How this machine reaches registries: proxies, certificates and timeouts. The settings are a plain object, because
 * they are passed between threads.
 */

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { AppError } from '@shoal/core/errors'
import { type Parse, readSettings, setting } from '@shoal/core/settings'
import { parseDuration } from '@shoal/core/units'

export type NetworkSettings = {
  /** Proxies for http and https URLs. */
  httpProxy: string | undefined
  httpsProxy: string | undefined
  /** Hosts, domains and networks to connect to directly, as in `NO_PROXY`. */
  noProxy: string
  /** Certificate authorities to trust in addition to the system's and Node's, in PEM format. */
  extraCa: string | undefined
  timeouts: Timeouts
}

/** In milliseconds. */
export type Timeouts = {
  /** Time until a connection is open, including the TLS handshake. */
  connectMs: number
  /** Time from sending the request to receiving the response headers. */
  headersMs: number
  /** Longest pause while receiving a response. */
  stallMs: number
  /** A transfer fails after this long without progress. */
  giveUpMs: number
}

export const defaultTimeouts: Timeouts = {
  connectMs: 6_000,
  headersMs: 30_000,
  stallMs: 20_000,
  giveUpMs: 10 * 60_000,
}

const usualTimeouts = 'connect=6s,headers=30s,stall=20s,giveup=10m'

/** No proxy, and the default timeouts. */
export const directNetwork: NetworkSettings = {
  httpProxy: undefined,
  httpsProxy: undefined,
  noProxy: '',
  extraCa: undefined,
  timeouts: defaultTimeouts,
}

/** The error for an invalid setting. `message` is a sentence for the user. */
export class NetworkSettingError extends AppError<'invalid_network_setting'> {
  constructor(message: string, options?: ErrorOptions) {
    super('invalid_network_setting', message, {}, options)
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the settings from an environment. As in curl, `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` may be
 * uppercase or lowercase. `cacert` is the value of `--cacert`, which overrides `SHOAL_CA_FILE`. Rejects with a
 * `NetworkSettingError` if a setting is invalid.
 */
export async function readNetworkSettings(
  env: Environment,
  cacert?: string,
): Promise<NetworkSettings> {
  const { caFile, timeouts } = readSettings(
    networkSettings,
    { env, flags: { cacert } },
    (message) => {
      throw new NetworkSettingError(`${message}.`)
    },
  )
  const read = (name: string) => env[name.toLowerCase()] || env[name] || undefined
  const all = read('ALL_PROXY')
  return {
    httpProxy: proxyAddress(read('HTTP_PROXY') ?? all),
    httpsProxy: proxyAddress(read('HTTPS_PROXY') ?? all),
    noProxy: read('NO_PROXY') ?? '',
    extraCa: caFile ? await readCertificates(caFile) : undefined,
    timeouts,
  }
}

function proxyAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const address = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url && ['http:', 'https:'].includes(url.protocol) && hasSoundPassword(url)) return address
  throw new NetworkSettingError(
    `“${withoutPassword(text)}” is not an HTTP proxy address; set HTTP_PROXY, HTTPS_PROXY or ALL_PROXY to a URL such as http://proxy.example:3128.`,
  )
}

/** Whether the credentials can be decoded: a percent sign in them must be percent-encoded. */
function hasSoundPassword({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password)
    return true
  } catch {
    return false // the caller reports it
  }
}

const withoutPassword = (text: string) => text.replace(/\/\/[^@/]*@/, '//…@')

async function readCertificates(path: string): Promise<string> {
  const pem = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new NetworkSettingError(`The CA file ${path} cannot be read: ${error.code}.`)
  })
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
  } catch (error) {
    throw new NetworkSettingError(`The CA file ${path} contains an invalid certificate.`, {
      cause: error,
    })
  }
  if (certificates.length > 0) return certificates.join('\n')
  throw new NetworkSettingError(`The CA file ${path} contains no PEM certificates.`)
}

const timeoutFields: Record<string, keyof Timeouts> = {
  connect: 'connectMs',
  headers: 'headersMs',
  stall: 'stallMs',
  giveup: 'giveUpMs',
}

const minTimeoutMs = 100
/**
 * About 12 days, which in practice means no timeout. Timers whose delay exceeds 2^31 - 1 ms (about 25 days) fire
 * immediately.
 */
const maxTimeoutMs = 2 ** 30

/** Parses timeouts such as `connect=6s,headers=30s,stall=20s,giveup=10m`. Omitted timeouts keep their defaults. */
const parseTimeouts: Parse<Timeouts> = (text, refuse) => {
  const timeouts = { ...defaultTimeouts }
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const [, name = '', time = ''] = /^\s*([a-z]+)=(.*)$/.exec(part) ?? []
    const field = timeoutFields[name]
    const ms = parseDuration(time) ?? 0
    if (field === undefined || ms < minTimeoutMs) {
      return refuse(
        `contains “${part.trim()}”, which is not valid; use the format ${usualTimeouts}, with timeouts of at least 100ms`,
      )
    }
    timeouts[field] = Math.min(ms, maxTimeoutMs)
  }
  return timeouts
}

/** The settings except for the proxies, which are read from the standard variables. */
export const networkSettings = {
  caFile: setting({
    variable: 'SHOAL_CA_FILE',
    flag: '--cacert <file>',
    parse: (path) => path,
    description: 'file with additional trusted CA certificates, in PEM format',
  }),
  timeouts: setting({
    variable: 'SHOAL_NETWORK_TIMEOUTS',
    parse: parseTimeouts,
    default: usualTimeouts,
    description: 'network timeouts; omitted timeouts keep their defaults',
  }),
}
