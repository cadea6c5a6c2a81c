/** Connections to a daemon that has proved that it wrote `daemon.json`. See decision 0019. */
import { randomBytes } from 'node:crypto'
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import { computeProof, isSameProof } from '@shoal/daemon/proof'

/** Timeout for the proof. A daemon responds immediately, unless the machine is busy computing. */
const timeoutMs = 2_000
const maxAnswerLength = 4_096

export type ProvenConnection = {
  /** Sends one request, over this connection only. */
  agent: Agent
  /** Destroys a request that would use another connection, before any of it is sent. */
  hold(request: ClientRequest): ClientRequest
}

/**
 * Connects and, before any key or prompt is sent, requests a proof that the other end knows the token. Rejects if there
 * is no response within two seconds, or the proof is wrong.
 */
export async function proveConnection(
  url: string,
  token: string,
  signal?: AbortSignal,
): Promise<ProvenConnection> {
  const { Agent, get } = await import('node:http')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const timeout = AbortSignal.timeout(timeoutMs)
  const nonce = randomBytes(32).toString('base64url')
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${url}/healthz?nonce=${nonce}`, {
        agent,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      })
        .on('response', resolve)
        .on('error', reject)
    })
    const { socket } = response
    const { remoteAddress: address, remotePort: port } = socket
    const proof = await proofIn(response)
    if (!isSameProof(proof, computeProof(token, nonce, { address, port }))) {
      throw new Error("the program at this address does not have the daemon's token")
    }
    return {
      agent,
      hold: (request) =>
        request.once('socket', (given) => {
          if (given !== socket)
            request.destroy(new Error('the authenticated connection was closed'))
        }),
    }
  } catch (error) {
    agent.destroy()
    throw error
  }
}

/** Returns the proof in the response, or an empty string if there is none. */
async function proofIn(response: IncomingMessage): Promise<string> {
  let body = ''
  response.setEncoding('utf8')
  for await (const chunk of response) {
    body += chunk
    if (body.length > maxAnswerLength) throw new Error('the response is not from a daemon')
  }
  return /"proof"\s*:\s*"([\w-]+)"/.exec(body)?.[1] ?? ''
}
