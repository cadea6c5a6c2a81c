import { transferRetry } from '@shoal/network'
import type { RegistryClient } from '@shoal/protocol/client'
import type { WaitingEvent } from './events.ts'

/**
 * Returns the client of a transfer, which retries calls to an unreachable registry until the transfer's timeout, and
 * reports the waits.
 */
export function retryingClient(
  client: RegistryClient,
  { timeoutMs, report }: { timeoutMs: number; report: (event: WaitingEvent) => void },
): RegistryClient {
  return client.with({
    retry: transferRetry({ timeoutMs }),
    onWait: ({ seconds, reason }) => report({ type: 'waiting', seconds, reason }),
  })
}
