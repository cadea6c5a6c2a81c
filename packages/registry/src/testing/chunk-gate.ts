import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Reply = { status: number; detail: string; retryAfterSeconds?: number }

export type ChunkGate = Awaited<ReturnType<typeof openChunkGate>>

/** Starts a proxy in front of a registry. The proxy controls what happens to the chunks that clients send. */
export async function openChunkGate() {
  const replies: Reply[] = []
  const held: (() => void)[] = []
  let isCut = false
  let maxPassed = Number.POSITIVE_INFINITY
  let registryPort = 0
  let resets = 0

  const gate = {
    url: '',
    /** How many chunks the registry has accepted. */
    stored: 0,
    /** The part numbers of the chunks that were passed on to the registry, in order. */
    passed: [] as number[],
    leadTo(port: number) {
      registryPort = port
    },
    /** Lets this many more chunks through, and makes further chunks wait. */
    letThrough(count: number) {
      maxPassed = gate.passed.length + count
    },
    /** Lets all chunks through, including those that are waiting. */
    release() {
      maxPassed = Number.POSITIVE_INFINITY
      for (const go of held.splice(0)) go()
    },
    /** Breaks every connection, including new ones, until `restore` is called. */
    cut() {
      isCut = true
      server.closeAllConnections()
    },
    restore() {
      isCut = false
    },
    /** Sends these responses to the next chunks, without passing the chunks on to the registry. */
    answerNext: (...given: Reply[]) => replies.push(...given),
    /** Returns to the initial state. Breaks the connections of chunks that are still waiting. */
    reset() {
      resets += 1
      gate.restore()
      gate.release()
      gate.stored = 0
      gate.passed = []
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  const server = createServer(async (incoming, outgoing) => {
    if (isCut) return incoming.destroy()
    const isChunk = incoming.method === 'PUT' && incoming.url?.includes('partNumber=')
    const reply = isChunk ? replies.shift() : undefined
    if (reply) return answer(incoming, outgoing, reply)
    if (isChunk) {
      const before = resets
      if (gate.passed.length >= maxPassed) await new Promise<void>((go) => held.push(go))
      if (incoming.destroyed) return // the connection broke while the chunk was waiting
      if (resets > before) return incoming.destroy()
      gate.passed.push(Number(/partNumber=(\d+)/.exec(incoming.url ?? '')?.[1]))
    }
    const status = await passOn(incoming, outgoing, registryPort)
    if (isChunk && status === 200) gate.stored += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  gate.url = `http://localhost:${(server.address() as AddressInfo).port}`
  return gate
}

/** Responds after the entire body has arrived, because a browser treats an earlier response as a broken connection. */
function answer(incoming: IncomingMessage, outgoing: ServerResponse, reply: Reply) {
  const { status, detail, retryAfterSeconds } = reply
  incoming.resume().on('end', () => {
    outgoing.setHeader('content-type', 'application/json')
    if (retryAfterSeconds) outgoing.setHeader('retry-after', retryAfterSeconds)
    outgoing.writeHead(status).end(JSON.stringify({ detail }))
  })
}

/**
 * Passes a request on to the registry. Returns the status of the registry's response, or undefined if either side
 * closed the connection.
 */
function passOn(incoming: IncomingMessage, outgoing: ServerResponse, port: number) {
  return new Promise<number | undefined>((resolve) => {
    const { method, url, headers } = incoming
    const passed = request({ host: '127.0.0.1', port, method, path: url, headers }, (answered) => {
      outgoing.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(outgoing)
      resolve(answered.statusCode)
    })
    passed.on('error', () => {
      outgoing.destroy()
      resolve(undefined)
    })
    incoming.on('error', () => passed.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
}
