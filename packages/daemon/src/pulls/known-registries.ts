/** The registries that this machine knows: the one in the settings, and those where the user has signed in. */
import {
  parseReference,
  parseRunTarget,
  type Reference,
  registryOption,
} from '@shoal/core/references'
import { directNetwork, registryTransport } from '@shoal/network'
import { type RegistryClient, registryClient } from '@shoal/protocol/client'
import type { DaemonConfig } from '../config.ts'
import { Fault } from '../errors.ts'

export type KnownRegistry = {
  /** The origin: `http://localhost:8000`. */
  address: string
  token: string | undefined
}

/** A registry to which a model's name refers. */
export type OpenedRegistry = {
  client: RegistryClient
  /** False for a registry that this machine does not know. Requests to such a registry carry no credentials. */
  isKnown: boolean
  /** Whether the registry has refused this machine's token, so that requests continue without it. */
  isTokenRefused(): boolean
}

export interface KnownRegistries {
  /** Lists the registries that are currently known. If the settings contain a registry, it is the first. */
  list(): Promise<KnownRegistry[]>
  /**
   * Opens the known registry at an address or, without an address, the first registry in `list`. A token is sent only
   * to the registry that issued it: scheme, host and port must match. Throws a `Fault` if there is no such registry,
   * unless an address is given and `allowsUnknown` is set.
   */
  open(address?: string, options?: { allowsUnknown?: boolean }): Promise<OpenedRegistry>
  /**
   * Opens the registry in a model's name. The name contains the registry's address or, for a known registry, only its
   * host and port. Throws a `Fault` in the same cases as `open`, and if the name is not valid.
   */
  openFor(
    model: string,
    options?: { allowsUnknown?: boolean },
  ): Promise<OpenedRegistry & { reference: Reference }>
}

type Settings = Pick<DaemonConfig, 'registry' | 'otherRegistries'>

type Log = { warn(fields: object, message: string): void }

const userAgent = 'shoal-daemon'

export function knownRegistries(
  { registry, otherRegistries }: Settings,
  log: Log,
): KnownRegistries {
  const transport = registryTransport(registry?.network ?? directNetwork)
  const own = registry ? [{ address: registry.address, token: registry.token }] : []
  /** Refused tokens that have been logged. */
  const refused = new Set<string>()

  /** If a registry has two entries, the later one is used, because it was read more recently. */
  async function list(): Promise<KnownRegistry[]> {
    const all = [...own, ...((await otherRegistries?.()) ?? [])]
    return [...new Map(all.map((one) => [one.address, one])).values()]
  }

  const open: KnownRegistries['open'] = async (address, { allowsUnknown = false } = {}) => {
    const known = await list()
    const wanted = address ?? known[0]?.address
    if (wanted === undefined) {
      throw new Fault(400, 'this daemon was started without a registry to pull from')
    }
    const found = known.find((one) => one.address === wanted)
    if (!found && !allowsUnknown) throw unknownRegistry(wanted)
    const { token } = found ?? {}
    let isTokenRefused = false
    function onTokenRefused() {
      isTokenRefused = true
      if (token === undefined || refused.has(token)) return
      refused.add(token)
      const login = loginCommand(wanted as string)
      log.warn(
        { registry: wanted },
        `the sign-in to this registry is no longer valid, so only public models can be used; to sign in again: ${login}`,
      )
    }
    const client = registryClient({
      baseUrl: wanted,
      token,
      onTokenRefused,
      userAgent,
      transport,
    })
    return { client, isKnown: found !== undefined, isTokenRefused: () => isTokenRefused }
  }

  return {
    list,
    open,

    async openFor(model, options) {
      const reference = parseReference(model)
      if (!reference) throw invalidName(model)
      const { registry: named } = reference
      const address = named === undefined ? undefined : toAddress(named, await list())
      return { ...(await open(address, options)), reference }
    },
  }
}

/**
 * Returns the address of the registry in a reference. If the reference has no scheme, the registry must be a known one.
 */
function toAddress(named: string, known: readonly KnownRegistry[]): string {
  const text = named.toLowerCase()
  const found = known.find(({ address }) => [address, withoutScheme(address)].includes(text))
  if (found) return found.address
  // `model` is a placeholder: `parseRunTarget` checks the address in the same way as an address in a link.
  const target = parseRunTarget(`${named}/model`)
  if (target) return target.registry
  throw unknownRegistry(named)
}

const withoutScheme = (address: string) => address.replace(/^https?:\/\//, '')

const loginCommand = (address: string) => `shoal login${registryOption(address)}`

function unknownRegistry(address: string): Fault {
  return new Fault(
    'unknown_registry',
    `the registry ${address} is not configured on this machine; to use it, sign in: ${loginCommand(address)}`,
    { param: 'model' },
  )
}

const invalidName = (text: string) =>
  new Fault(
    400,
    `'${text}' is not a valid model name; valid names look like shoal-tiny or shoal-tiny:Q8_0`,
    { param: 'model' },
  )
