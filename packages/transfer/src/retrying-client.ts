import { transferRetry } from '@shoal/network'
import type { RegistryClient } from '@shoal/protocol/client'
import type { WaitingEvent } from './events.ts'

/**
 * Returns a client that retries calls to an unreachable registry until the transfer's timeout, and reports each wait.
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
