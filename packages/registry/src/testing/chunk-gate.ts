import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Reply = { status: number; detail: string; retryAfterSeconds?: number }

export type ChunkGate = Awaited<ReturnType<typeof openChunkGate>>

/** Stands before a registry and decides what becomes of the chunks that are sent to it. */
export async function openChunkGate() {
  const replies: Reply[] = []
  const held: (() => void)[] = []
  let isCut = false
  let maxPassed = Number.POSITIVE_INFINITY
  let registryPort = 0
  let resets = 0

  const gate = {
    url: '',
    /** How many chunks the registry has taken. */
    stored: 0,
    /** The numbers of the chunks that went to it, in the order of their going. */
    passed: [] as number[],
    leadTo(port: number) {
      registryPort = port
    },
    /** Lets so many more through, and makes the others wait. */
    letThrough(count: number) {
      maxPassed = gate.passed.length + count
    },
    /** Lets all through, also those that wait. */
    release() {
      maxPassed = Number.POSITIVE_INFINITY
      for (const go of held.splice(0)) go()
    },
    /** Breaks every connection, also those to come, until `mend`. */
    cut() {
      isCut = true
      server.closeAllConnections()
    },
    mend() {
      isCut = false
    },
    /** What the next chunks hear in place of the registry's answer. */
    answerNext: (...given: Reply[]) => replies.push(...given),
    /** As it was when it was opened. What still waits is broken off. */
    reset() {
      resets += 1
      gate.mend()
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
      if (incoming.destroyed) return // its connection broke while it waited
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

/** Once all has come: a browser takes an earlier answer for a broken connection. */
function answer(incoming: IncomingMessage, outgoing: ServerResponse, reply: Reply) {
  const { status, detail, retryAfterSeconds } = reply
  incoming.resume().on('end', () => {
    outgoing.setHeader('content-type', 'application/json')
    if (retryAfterSeconds) outgoing.setHeader('retry-after', retryAfterSeconds)
    outgoing.writeHead(status).end(JSON.stringify({ detail }))
  })
}

/** The status that the registry answered; undefined where one of the two hung up. */
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
