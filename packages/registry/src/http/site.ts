import { bareHost, isLoopback } from '@shoal/core/addresses'
import { LRUCache } from 'lru-cache'

/**
 * The registry's public address. All URLs in responses begin with the base URL, never with the hostname in the `Host`
 * header.
 */
export type Site = {
  /** For example `http://localhost:8000`, without a trailing slash. */
  baseUrl(): string
  isSecure(): boolean
  /** Whether a request with this `Host` header is meant for this registry. */
  isOurHost(host: string | undefined): boolean
  /**
   * Whether `Host` is a local name of this registry other than the one in `baseUrl`. Browsers do not share cookies
   * between the two names.
   */
  isOtherLocalName(host: string | undefined): boolean
  /** Called once the port is known, before the first request. */
  listensOn(port: number): void
  /** The URL of the daemon's API on this machine. Empty if no daemon is running, and undefined if this is not known. */
  localApi(): string | undefined
  setLocalApi(address: string): void
}

export function createSite(config: { baseUrl: string | undefined; allowedHosts: string[] }): Site {
  let baseUrl = config.baseUrl ?? 'http://localhost'
  let localApi: string | undefined
  return {
    baseUrl: () => baseUrl,
    isSecure: () => baseUrl.startsWith('https:'),
    isOurHost: remembered((host = '') =>
      listHostnames(host).some(
        (name) =>
          isLoopback(name) ||
          name === new URL(baseUrl).hostname ||
          config.allowedHosts.some((one) =>
            [name, bareHost(name), host.toLowerCase()].includes(one),
          ),
      ),
    ),
    isOtherLocalName: remembered((host) => {
      const url = `http://${host}`
      if (!host || !URL.canParse(url)) return false
      const [asked, own] = [new URL(url), new URL(baseUrl)]
      const areHere = isLoopback(asked.hostname) && isLoopback(own.hostname)
      return areHere && asked.port === own.port && asked.hostname !== own.hostname
    }),
    localApi: () => localApi,
    setLocalApi(address) {
      localApi = address
    },
    listensOn(port) {
      if (config.baseUrl === undefined) baseUrl = `http://localhost:${port}`
    },
  }
}

/**
 * Returns the hostnames that a `Host` header may contain, of which there is normally one. libtorrent 2.0 sends IPv6
 * addresses without brackets, so `fd99::1:8000` may end with a port.
 */
function listHostnames(host: string): string[] {
  const isBare = /^[0-9a-f]*:[0-9a-f.]*:[0-9a-f:.]*$/i.test(host)
  const texts = isBare ? [`[${host}]`, `[${host.replace(/:\d+$/, '')}]`] : [host]
  return texts.flatMap((text) =>
    text !== '' && URL.canParse(`http://${text}`) ? new URL(`http://${text}`).hostname : [],
  )
}

const maxRememberedHosts = 100
/** A domain name has at most 253 characters (RFC 1035 §2.3.4), and a colon with a port has at most 6. */
const maxHostLength = 260

/**
 * Wraps `judge` in a function that caches its results. Nearly all requests use the same few hosts, and a check spends
 * most of its time parsing the host.
 */
function remembered(judge: (host: string | undefined) => boolean) {
  const judged = new LRUCache<string, boolean>({ max: maxRememberedHosts })
  return (host: string | undefined) => {
    if (host === undefined || host.length > maxHostLength) return judge(host)
    const known = judged.get(host)
    if (known !== undefined) return known
    const isOurs = judge(host)
    judged.set(host, isOurs)
    return isOurs
  }
}
