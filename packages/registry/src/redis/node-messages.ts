import { randomUUID } from 'node:crypto'
import type { SharedState } from './open-redis.ts'

/** Messages between the nodes of a registry. They may be lost. */
export interface NodeMessages {
  /** Identifies this process. */
  nodeId: string
  send(nodeId: string, message: string): void
  /** Calls `listener` for each message to this node. */
  listen(listener: (message: string) => void): void
}

/** Sends messages through Redis (publish and subscribe). They are lost while Redis does not respond. */
export function nodeMessages(shared: SharedState): NodeMessages {
  const nodeId = randomUUID()
  const toChannel = (id: string) => `${shared.prefix}node:${id}`
  const lost = async () => undefined
  return {
    nodeId,
    send(to, message) {
      const publish = async () => {
        await shared.redis.publish(toChannel(to), message)
      }
      void shared.use(publish, lost)
    },
    listen: (listener) => shared.subscribe(toChannel(nodeId), listener),
  }
}
