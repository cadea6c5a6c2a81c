/** The entry point of the thread that `startSwarm` starts. */
import type { Notify } from '@shoal/core/rpc'
import { serveParent } from '@shoal/threads/parent'
import { joinSwarm } from './swarm-client.ts'
import type { Contact, SwarmEvents, SwarmMethods, SwarmSetup } from './swarm-messages.ts'

/** Returns a swarm that is joined only when `join` is called. */
function swarmToJoin(setup: SwarmSetup, notify: Notify<SwarmEvents>): SwarmMethods {
  const contact = Promise.withResolvers<Contact>()
  let isJoining = false
  const swarm = contact.promise
    .then((known) => joinSwarm(setup, known, notify))
    .catch((error) => notify('failed', String(error)))

  return {
    join(known) {
      isJoining = true
      contact.resolve(known)
    },
    have: async (pieces) => (await swarm)?.have(pieces),
    want: async (pieces) => (await swarm)?.want(pieces),
    settle: async (pieces) => (await swarm)?.settle(pieces),
    leave: async (pieces) => (await swarm)?.leave(pieces),
    forget: async (pieces) => (await swarm)?.forget(pieces),
    registry: async (urls) => (await swarm)?.registry(urls),
    limit: async (change) => (await swarm)?.limit(change),
    async close() {
      if (isJoining) await (await swarm)?.close()
    },
  }
}

serveParent(swarmToJoin)
