import { type Command, Option } from 'commander'
import type { Config } from '../settings/config.ts'
import { parseBytes } from '../terminal/units.ts'

export type PeerOptions = { peers?: boolean; onlyPeers?: boolean; limitUpload?: number }

export function addPeerOptions(command: Command): Command {
  return command
    .option('--no-peers', 'ask the registry alone: nobody else learns of it')
    .addOption(new Option('--only-peers', 'ask the registry for no bytes').conflicts('peers'))
    .addOption(uploadLimitOption())
}

export function uploadLimitOption(): Option {
  return new Option(
    '--limit-upload <speed>',
    'give others at most so much a second, such as 1MB',
  ).argParser(parseBytes)
}

/** What the flags say, else what the settings say, else that others are asked. */
export function peersOf(options: PeerOptions, config: Config) {
  const isOff = options.peers === false || config.peers === 'off'
  const kept = config['limit-upload']
  return {
    peers: options.onlyPeers ? ('only' as const) : isOff ? ('off' as const) : ('auto' as const),
    uploadLimit: options.limitUpload ?? (kept === undefined ? undefined : parseBytes(kept)),
    isLocalDiscoveryOn: isLocalDiscoveryOn(config),
  }
}

/** Peers on the same network find each other, unless somebody said not to. */
export const isLocalDiscoveryOn = (config: Config): boolean => config['local-peers'] !== 'off'

/** Those who deal with a registry on this machine are on this machine; for others it has to be every address. */
export function peerHostFor(registryAddress: string): string {
  const { hostname } = new URL(registryAddress)
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
  return isLoopback ? '127.0.0.1' : '0.0.0.0'
}
