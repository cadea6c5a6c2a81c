import { type Command, Option } from 'commander'
import type { Config } from '../settings/config.ts'
import { parseBytes, parseRatio } from '../terminal/units.ts'

export type PeerOptions = { peers?: boolean; onlyPeers?: boolean; limitUpload?: number }

export function addPeerOptions(command: Command): Command {
  return command
    .option('--no-peers', 'download only from the registry, and never share it')
    .addOption(new Option('--only-peers', 'ask the registry for no bytes').conflicts('peers'))
    .addOption(uploadLimitOption())
}

export function uploadLimitOption(): Option {
  return new Option(
    '--limit-upload <speed>',
    'give others at most so much a second, such as 1MB',
  ).argParser(parseBytes)
}

export function ratioOption(): Option {
  return new Option(
    '--ratio <number>',
    'stop sharing a file after sending it this many times, until restarted',
  ).argParser(parseRatio)
}

/** What the flags say, else what the settings say, else that others are asked. */
export function peersOf({ peers, onlyPeers, limitUpload }: PeerOptions, config: Config) {
  const isOff = peers === false || config.peers === 'off'
  return {
    peers: onlyPeers ? ('only' as const) : isOff ? ('off' as const) : ('auto' as const),
    // `run` and `up` have no such option: they leave a file that is there as it is.
    isShared: isOff ? false : peers,
    ...givingOf(limitUpload, config),
  }
}

export type SharingWish = { limitUpload?: number; ratio?: number }

/** How files are given to others: what the flags say, else what the settings say. */
export function sharingOf({ limitUpload, ratio }: SharingWish, config: Config) {
  const kept = config.ratio
  return {
    ratio: ratio ?? (kept === undefined ? undefined : parseRatio(kept)),
    ...givingOf(limitUpload, config),
  }
}

function givingOf(limitUpload: number | undefined, config: Config) {
  const kept = config['limit-upload']
  return {
    uploadLimit: limitUpload ?? (kept === undefined ? undefined : parseBytes(kept)),
    isLocalDiscoveryOn: config['local-peers'] !== 'off',
  }
}
