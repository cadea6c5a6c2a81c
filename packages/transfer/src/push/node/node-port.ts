import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import type { NetworkSettings } from '@shoal/network'
import { hashPart } from '../../disk/hash-part.ts'
import { fileChanged } from '../../errors.ts'
import { followLimit, type Limit, readLimit } from '../../limit.ts'
import { type RateClock, rateClock, rateLimit, setRate } from '../../rate-limit.ts'
import type { PushPort } from '../push-port.ts'

export type NodePortOptions = {
  path: string
  /** The size and modification time of the file before it was hashed. */
  sizeBytes: number
  mtimeMs: number
  chunkSize: number
  connections: number
  /** Maximum number of bytes per second, for all connections together. */
  rateLimit: Limit | undefined
  /** The state of the rate limit, if other files share it; `rateLimit` is then ignored. */
  rateClock: RateClock | undefined
  network: NetworkSettings
}

/** Creates a port that sends a local file. Disposing of the port closes its connections and the file. */
export function nodePort(options: NodePortOptions): PushPort & AsyncDisposable {
  const { path, sizeBytes, mtimeMs, chunkSize, connections } = options
  let opening: ReturnType<typeof openTools> | undefined
  const tools = () => {
    opening ??= openTools(options)
    return opening
  }

  return {
    connections,

    async putChunk(chunk, { signal, onSent }) {
      const { send } = await tools()
      await send(chunk, { signal, onSent })
    },

    async checkChunk({ index, size, hash: expected }) {
      const { handle } = await tools()
      const hash = createHash('sha256')
      hashPart(handle.fd, hash, index * chunkSize, size)
      if (hash.digest('hex') !== expected) throw fileChanged(path)
    },

    async checkUnchanged() {
      const now = await stat(path)
      if (now.size !== sizeBytes || now.mtimeMs !== mtimeMs) throw fileChanged(path)
    },

    async [Symbol.asyncDispose]() {
      const opened = await opening?.catch(() => undefined) // the call that opened the tools has reported the error
      opened?.stopFollowing()
      await opened?.network.destroy()
      await opened?.handle.close()
    },
  }
}

async function openTools({ path, chunkSize, connections, ...options }: NodePortOptions) {
  // These modules are loaded only when needed, because loading undici takes 60 ms and 27 MB, and a pull in the same
  // process does not need it.
  const [{ openNetwork }, { sendChunk }] = await Promise.all([
    import('@shoal/network/requests'),
    import('./send-chunk.ts'),
  ])
  const handle = await open(path, 'r')
  const network = openNetwork(options.network, { connections })
  const clock = options.rateClock ?? rateClock(readLimit(options.rateLimit))
  const followed = options.rateClock ? undefined : options.rateLimit
  const stopFollowing = followLimit(followed, (limit) => setRate(clock, limit))
  const tools = { network, handle, path, chunkSize, limit: rateLimit(clock) }
  const send: PushPort['putChunk'] = (chunk, put) => sendChunk(tools, chunk, put)
  return { handle, network, send, stopFollowing }
}
