import { registryOption } from '@shoal/core/references'
import { DaemonError } from '@shoal/protocol/inference-client'
import type { ChatFailure } from '../conversation/conversation.ts'
import { sentence, toChatFailure } from '../conversation/to-chat-failure.ts'

const titles: Record<string, string> = {
  registry_unreachable: 'The registry cannot be used',
  registry_failed: 'The registry returned an error',
  model_not_found: 'The registry does not have this model',
  no_fit: 'No file of this model fits in memory',
  no_room: 'The disk is full',
  verification_failed: 'The downloaded data is damaged',
  damaged_file: 'The file on this machine is damaged',
  model_busy: 'The model is in use',
}

/** Describes, for the user, why a request that concerns a registry failed. `address` begins with the registry's URL. */
export function toRegistryFailure(error: unknown, address: string | undefined): ChatFailure {
  if (!(error instanceof DaemonError)) return toChatFailure(error)
  const { reason } = error.details
  if (reason === 'registry_refused') {
    const registry = address && URL.canParse(address) ? new URL(address).origin : undefined
    return {
      title: 'The registry requires you to sign in',
      advice: 'Sign in from a terminal on the daemon’s machine, then try again:',
      command: `shoal login${registryOption(registry)}`,
    }
  }
  const title = titles[reason ?? '']
  return title ? { title, advice: sentence(error.message) } : toChatFailure(error)
}
