/** How this machine reaches registries: proxies, certificates and timeouts. Plain data, since it crosses threads. */

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'

export type NetworkSettings = {
  /** The proxy for http and for https addresses. */
  httpProxy: string | undefined
  httpsProxy: string | undefined
  /** As in `NO_PROXY`: hosts, domains, networks. */
  noProxy: string
  /** Certificate authorities to trust beside the system's and Node's, in PEM. */
  extraCa: string | undefined
  timeouts: Timeouts
}

/** In milliseconds. */
export type Timeouts = {
  /** Until a connection stands, with TLS. */
  connectMs: number
  /** From the request to the head of its answer. */
  headersMs: number
  /** Without a byte, once bytes flow. */
  stallMs: number
  /** A transfer that gets nowhere for so long fails. */
  giveUpMs: number
}

export const defaultTimeouts: Timeouts = {
  connectMs: 6_000,
  headersMs: 30_000,
  stallMs: 20_000,
  giveUpMs: 10 * 60_000,
}

/** Straight to every host. */
export const directNetwork: NetworkSettings = {
  httpProxy: undefined,
  httpsProxy: undefined,
  noProxy: '',
  extraCa: undefined,
  timeouts: defaultTimeouts,
}

/** A setting that cannot be: `message` is a sentence. */
export class NetworkSettingError extends Error {
  override name = 'NetworkSettingError'
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The settings of an environment, as curl reads it: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` in either case.
 * `caFile` comes before `SHOAL_CA_FILE`. Throws `NetworkSettingError`.
 */
export async function readNetworkSettings(
  env: Environment,
  caFile = env.SHOAL_CA_FILE,
): Promise<NetworkSettings> {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || undefined
  const all = read('ALL_PROXY')
  return {
    httpProxy: proxyAddress(read('HTTP_PROXY') ?? all),
    httpsProxy: proxyAddress(read('HTTPS_PROXY') ?? all),
    noProxy: read('NO_PROXY') ?? '',
    extraCa: caFile ? await readCertificates(caFile) : undefined,
    timeouts: { ...defaultTimeouts, ...parseTimeouts(env.SHOAL_NETWORK_TIMEOUTS ?? '') },
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

/** What is not a letter or digit of it may be percent-encoded, and a percent sign has to be. */
function hasSoundPassword({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password)
    return true
  } catch {
    return false // the caller says so
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

const settingOf: Record<string, keyof Timeouts> = {
  connect: 'connectMs',
  headers: 'headersMs',
  stall: 'stallMs',
  giveup: 'giveUpMs',
}

/** `connect=6s,headers=30s,stall=20s,giveup=10m`, or some of them. */
function parseTimeouts(text: string): Partial<Timeouts> {
  const timeouts: Partial<Timeouts> = {}
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const [, name = '', count, unit = ''] = /^\s*([a-z]+)=(\d+)(ms|s|m)\s*$/.exec(part) ?? []
    const setting = settingOf[name]
    const ms = Number(count) * ({ ms: 1, s: 1000, m: 60_000 }[unit] ?? Number.NaN)
    if (setting === undefined || !(ms >= 100)) {
      throw new NetworkSettingError(
        `SHOAL_NETWORK_TIMEOUTS has “${part.trim()}”; it looks like connect=6s,headers=30s,stall=20s,giveup=10m.`,
      )
    }
    timeouts[setting] = ms
  }
  return timeouts
}
