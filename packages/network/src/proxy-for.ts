/** Chooses the proxy for a request. */
import { BlockList, isIP } from 'node:net'
import { isLoopback } from '@shoal/core/addresses'
import type { NetworkSettings } from './settings.ts'

type Proxies = Pick<NetworkSettings, 'httpProxy' | 'httpsProxy' | 'noProxy'>

/** The proxy's URL; undefined for a direct request. Requests to this machine are always direct. */
export function proxyFor(url: URL, { httpProxy, httpsProxy, noProxy }: Proxies) {
  const proxy = url.protocol === 'https:' ? httpsProxy : httpProxy
  if (proxy === undefined || isLoopback(url.hostname) || isExempt(url, noProxy)) return undefined
  return proxy
}

/** The hostname without IPv6 brackets or a trailing dot. */
const normalizeHost = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/**
 * Whether `NO_PROXY` lists the host of `url`. As in curl, an entry is `*`, a network, or a host. A host also matches
 * its subdomains, and can be written with a leading `.` or `*.` and with a port.
 */
function isExempt(url: URL, noProxy: string): boolean {
  const host = normalizeHost(url).toLowerCase()
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return noProxy.split(/[\s,]+/).some((entry) => {
    if (entry === '') return false
    if (entry === '*') return true
    if (entry.includes('/')) return isInNetwork(host, entry)
    const { name, port: wanted } = splitEntry(entry.toLowerCase())
    if (wanted !== undefined && wanted !== port) return false
    return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`))
  })
}

function splitEntry(entry: string): { name: string; port: string | undefined } {
  const bare = entry.replace(/^\*?\./, '')
  const [, name = bare, port] =
    isIP(bare) === 6 ? [] : (/^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(bare) ?? [])
  return { name: name.replace(/\.$/, ''), port }
}

function isInNetwork(host: string, network: string): boolean {
  const [address = '', prefix = ''] = network.split('/')
  const version = isIP(address)
  if (version === 0 || version !== isIP(host) || !/^\d+$/.test(prefix)) return false
  if (Number(prefix) > (version === 4 ? 32 : 128)) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(address, Number(prefix), family)
  return list.check(host, family)
}
