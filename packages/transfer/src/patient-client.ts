import type { RegistryClient } from '@shoal/protocol/client'
import type { WaitingEvent } from './events.ts'

/** So long a transfer waits for a registry that has not answered yet, which may just be starting. */
const firstContactMs = 10_000

/** The client of a transfer: a registry that goes away is waited for as long as the bytes would be, and the waits are reported. */
export function patientClient(
  client: RegistryClient,
  { giveUpMs, report }: { giveUpMs: number; report: (event: WaitingEvent) => void },
): RegistryClient {
  return client.with({
    retry: { firstContactMs: Math.min(firstContactMs, giveUpMs), giveUpMs },
    onWait: ({ seconds, reason }) => report({ type: 'waiting', seconds, reason }),
  })
}
