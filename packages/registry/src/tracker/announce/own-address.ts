import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { plainAddress } from '@shoal/core/addresses'
import { canConnect } from './reach.ts'

export type OwnAddress = {
  /**
   * The address of this machine for a client at `from` that connected to it at `reachedAt`, which is undefined behind a
   * proxy. Undefined if no address is known that leads here.
   */
  for(from: string, reachedAt: string | undefined): Promise<string | undefined>
}

type Options = {
  baseUrl: () => string
  log: { warn(details: object, message: string): void }
  /** All addresses of a hostname. */
  resolve?: (name: string) => Promise<string[]>
}

const refreshIntervalMs = 600_000
const maxWaitMs = 2_000

/**
 * The address at which a client reached us is where others on that side can reach us too: on loopback, in a LAN, on the
 * internet. That is not so if a router, a cloud or a proxy has changed the address on the way in; then the hostname of
 * the base URL leads here.
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
      log.warn({ err: error, name }, 'the hostname of the base URL has no address')
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
