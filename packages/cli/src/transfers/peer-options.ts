import { type Command, Option } from 'commander'
import { type Config, readSaved } from '../settings/config.ts'
import { createParsedOption } from '../settings/options.ts'
import { savedSettings } from '../settings/settings.ts'

export type PeerOptions = { peers?: boolean; onlyPeers?: boolean; limitUpload?: number }

export function addPeerOptions(command: Command): Command {
  return command
    .option('--no-peers', 'download only from the registry, and do not share the model')
    .addOption(new Option('--only-peers', 'download only from peers').conflicts('peers'))
    .addOption(uploadLimitOption())
}

export const uploadLimitOption = (): Option => createParsedOption(savedSettings['limit-upload'])

export const ratioOption = (): Option => createParsedOption(savedSettings.ratio)

/** Reads the settings for pulling from peers. Flags take precedence over saved settings. Peers are used by default. */
export function readPeerSettings({ peers, onlyPeers, limitUpload }: PeerOptions, config: Config) {
  const isOff = peers === false || readSaved('peers', config) === 'off'
  return {
    peers: onlyPeers ? ('only' as const) : isOff ? ('off' as const) : ('auto' as const),
    // Undefined for `run` and `up`, which have no `--no-peers`. If the file already exists, undefined keeps its sharing
    // setting.
    isShared: isOff ? false : peers,
    ...readUploadSettings(limitUpload, config),
  }
}

export type SharingOptions = { limitUpload?: number; ratio?: number }

/** Reads the settings for sharing files with peers. Flags take precedence over saved settings. */
export function readSharingSettings({ limitUpload, ratio }: SharingOptions, config: Config) {
  return {
    ratio: ratio ?? readSaved('ratio', config),
    ...readUploadSettings(limitUpload, config),
  }
}

function readUploadSettings(limitUpload: number | undefined, config: Config) {
  return {
    uploadLimit: limitUpload ?? readSaved('limit-upload', config),
    isLocalDiscoveryOn: readSaved('local-peers', config) !== 'off',
  }
}
