import { type Command, Option } from 'commander'
import { readSaved } from '../settings/config.ts'
import { createParsedOption } from '../settings/options.ts'
import { savedSettings } from '../settings/settings.ts'
import { type LimitPlaces, type Rate, readUploadLimit } from './limits.ts'

export type PeerOptions = { peers?: boolean; onlyPeers?: boolean; limitUpload?: Rate }

export function addPeerOptions(command: Command): Command {
  return command
    .option('--no-peers', 'download only from the registry, and do not share the model')
    .addOption(new Option('--only-peers', 'download only from peers').conflicts('peers'))
    .addOption(uploadLimitOption())
}

export const uploadLimitOption = (): Option => createParsedOption(savedSettings['limit-upload'])

export const ratioOption = (): Option => createParsedOption(savedSettings.ratio)

/** Reads the settings for pulling from peers. Flags take precedence over saved settings. Peers are used by default. */
export function readPeerSettings(
  { peers, onlyPeers, limitUpload }: PeerOptions,
  context: LimitPlaces,
) {
  const { config } = context
  const isOff = peers === false || readSaved('peers', config) === 'off'
  return {
    peers: onlyPeers ? ('only' as const) : isOff ? ('off' as const) : ('auto' as const),
    // Undefined for `run` and `up`, which have no `--no-peers`. If the file already exists, undefined keeps its sharing
    // setting.
    isShared: isOff ? false : peers,
    ...readUploadSettings(limitUpload, context),
  }
}

export type SharingOptions = { limitUpload?: Rate; ratio?: number }

/** Reads the settings for sharing files with peers. Flags take precedence over saved settings. */
export function readSharingSettings({ limitUpload, ratio }: SharingOptions, context: LimitPlaces) {
  const { config } = context
  return {
    ratio: ratio ?? readSaved('ratio', config),
    ...readUploadSettings(limitUpload, context),
  }
}

function readUploadSettings(limitUpload: Rate | undefined, context: LimitPlaces) {
  const { config } = context
  return {
    uploadLimit: readUploadLimit(limitUpload, context),
    isLocalDiscoveryOn: readSaved('local-peers', config) !== 'off',
  }
}
