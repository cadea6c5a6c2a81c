import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Reply = { status: number; detail: string; retryAfterSeconds?: number }

export type ChunkGate = Awaited<ReturnType<typeof openChunkGate>>

/** A proxy in front of a registry that decides what happens to the chunks sent to it. */
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
    /** The indexes of the chunks sent to it, in order. */
    passed: [] as number[],
    leadTo(port: number) {
      registryPort = port
    },
    /** Lets this many more through, and makes the others wait. */
    letThrough(count: number) {
      maxPassed = gate.passed.length + count
    },
    /** Lets all through, including those that wait. */
    release() {
      maxPassed = Number.POSITIVE_INFINITY
      for (const go of held.splice(0)) go()
    },
    /** Breaks every connection, including new ones, until `restore`. */
    cut() {
      isCut = true
      server.closeAllConnections()
    },
    restore() {
      isCut = false
    },
    /** The next chunks get this instead of the registry's response. */
    answerNext: (...given: Reply[]) => replies.push(...given),
    /** Back to the initial state. Whatever still waits is broken off. */
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
      if (incoming.destroyed) return // its connection broke while it was held
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

/** Once the whole body has arrived: a browser takes an earlier response for a broken connection. */
function answer(incoming: IncomingMessage, outgoing: ServerResponse, reply: Reply) {
  const { status, detail, retryAfterSeconds } = reply
  incoming.resume().on('end', () => {
    outgoing.setHeader('content-type', 'application/json')
    if (retryAfterSeconds) outgoing.setHeader('retry-after', retryAfterSeconds)
    outgoing.writeHead(status).end(JSON.stringify({ detail }))
  })
}

/** The status from the registry; undefined if either side closed the connection. */
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
