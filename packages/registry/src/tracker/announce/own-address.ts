import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { plainAddress } from '@shoal/core/addresses'
import type { Log } from '@shoal/log'
import { canConnect } from './reach.ts'

export type OwnAddress = {
  /**
   * Returns an address at which a client at `from` can reach this machine, or undefined if none is known. `reachedAt`
   * is the address to which the client connected; it is undefined behind a proxy.
   */
  for(from: string, reachedAt: string | undefined): Promise<string | undefined>
}

type Options = {
  baseUrl: () => string
  log: Pick<Log, 'warn'>
  /** Returns all addresses of a hostname. */
  resolve?: (name: string) => Promise<string[]>
}

const refreshIntervalMs = 600_000
const maxWaitMs = 2_000

/**
 * Finds this machine's address for a client. This is normally the address to which the client connected (on loopback,
 * in a LAN or on the internet), because other clients in the same place can reach it too. If a router, a cloud provider
 * or a proxy has translated that address, the addresses of the base URL's hostname are used instead.
 */
export function ownAddress({ baseUrl, log, resolve = resolveName }: Options): OwnAddress {
  let known: string[] | undefined
  let refreshing: Promise<void> | undefined
  let refreshedAt = Number.NEGATIVE_INFINITY

  async function resolveBaseUrl(): Promise<string[]> {
    if (performance.now() - refreshedAt > refreshIntervalMs) {
      refreshedAt = performance.now()
      refreshing = refresh(new URL(baseUrl()).hostname.replace(/^\[|\]$/g, ''))
    }
    if (!known) await Promise.race([refreshing, sleep(maxWaitMs, undefined, { ref: false })])
    return known ?? []
  }

  async function refresh(name: string) {
    try {
      known = await resolve(name)
    } catch (error) {
      log.warn({ err: error, name }, 'the hostname of the base URL could not be resolved')
    }
  }

  return {
    async for(from, reachedAt) {
      const leadsHere = (address: string) => canConnect(from, address)
      if (reachedAt !== undefined && leadsHere(reachedAt)) return reachedAt
      const addresses = (await resolveBaseUrl()).filter(leadsHere)
      return addresses.find((address) => isIPv6(address) === isIPv6(from)) ?? addresses[0]
    },
  }
}

async function resolveName(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true })
  return found.flatMap(({ address }) => plainAddress(address) ?? [])
}
