/** How this machine reaches registries: proxies, certificates and timeouts. Plain data, because it is passed between threads. */

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { AppError } from '@shoal/core/errors'
import { type Parse, readSettings, setting } from '@shoal/core/settings'
import { parseDuration } from '@shoal/core/units'

export type NetworkSettings = {
  /** The proxy for http and for https addresses. */
  httpProxy: string | undefined
  httpsProxy: string | undefined
  /** Hosts, domains and networks to reach directly, as in `NO_PROXY`. */
  noProxy: string
  /** Certificate authorities to trust beside the system's and Node's, in PEM. */
  extraCa: string | undefined
  timeouts: Timeouts
}

/** In milliseconds. */
export type Timeouts = {
  /** Until a connection is open, including TLS. */
  connectMs: number
  /** From the request to the head of its answer. */
  headersMs: number
  /** Longest silence in the middle of an answer. */
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

/** An invalid setting; `message` is a sentence for the user. */
export class NetworkSettingError extends AppError<'invalid_network_setting'> {
  constructor(message: string, options?: ErrorOptions) {
    super('invalid_network_setting', message, {}, options)
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the settings from an environment as curl does: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` in either case.
 * `cacert` is the flag that overrides `SHOAL_CA_FILE`. Rejects with a `NetworkSettingError`.
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
    `“${withoutPassword(text)}” is not the address of an HTTP proxy, such as http://proxy.example:3128.`,
  )
}

/** Other characters than letters and digits may be percent-encoded; a percent sign has to be. */
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
    throw new NetworkSettingError(`The CA file ${path} holds a damaged certificate.`, {
      cause: error,
    })
  }
  if (certificates.length > 0) return certificates.join('\n')
  throw new NetworkSettingError(`The CA file ${path} holds no certificate in PEM.`)
}

const timeoutFields: Record<string, keyof Timeouts> = {
  connect: 'connectMs',
  headers: 'headersMs',
  stall: 'stallMs',
  giveup: 'giveUpMs',
}

const minTimeoutMs = 100
/** Twelve days: a timer for more than twice as long would fire at once. Where there is no end, this is it. */
const maxTimeoutMs = 2 ** 30

/** `connect=6s,headers=30s,stall=20s,giveup=10m`, or some of them. */
const parseTimeouts: Parse<Timeouts> = (text, refuse) => {
  const timeouts = { ...defaultTimeouts }
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const [, name = '', time = ''] = /^\s*([a-z]+)=(.*)$/.exec(part) ?? []
    const field = timeoutFields[name]
    const ms = parseDuration(time) ?? 0
    if (field === undefined || ms < minTimeoutMs) {
      return refuse(`has “${part.trim()}”; it looks like ${usualTimeouts}`)
    }
    timeouts[field] = Math.min(ms, maxTimeoutMs)
  }
  return timeouts
}

/** What a user can set of it, besides the proxies, which have the names that every program knows. */
export const networkSettings = {
  caFile: setting({
    variable: 'SHOAL_CA_FILE',
    flag: '--cacert <file>',
    parse: (path) => path,
    description: 'certificate authorities to trust as well, in PEM',
  }),
  timeouts: setting({
    variable: 'SHOAL_NETWORK_TIMEOUTS',
    parse: parseTimeouts,
    default: usualTimeouts,
    description: 'network timeouts; those that are left out keep their default',
  }),
}
