/**
 * Sends requests to a daemon with `node:http`, because `fetch` fails after five minutes without a response, and loading
 * a large model from a slow disk may take longer.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { InferenceRequest, InferenceTransport } from '@shoal/protocol/inference-client'
import { proveConnection } from './proven-connection.ts'

export type DaemonAddress = {
  url: string
  apiKey: string | undefined
  /**
   * The daemon must prove that it has this token. Undefined for a daemon that the user has specified, because such a
   * daemon is trusted.
   */
  proofToken?: string
}

export function daemonTransport(address: DaemonAddress): InferenceTransport {
  return {
    url: address.url,
    async send(request) {
      const response = await send(address, request)
      return {
        status: response.statusCode ?? 0,
        header: (name) => [response.headers[name] ?? []].flat()[0] ?? null,
        body: response,
      }
    },
  }
}

async function send(
  { url: named, proofToken }: DaemonAddress,
  { method, path, headers, body, signal }: InferenceRequest,
): Promise<IncomingMessage> {
  const url = proofToken === undefined ? named : numericUrl(named)
  const proven = proofToken && (await proveConnection(url, proofToken, signal))
  // Imported only when needed, because the import takes longer than most commands that do not call a daemon.
  const { request } = await import(url.startsWith('https:') ? 'node:https' : 'node:http')
  return await new Promise((resolve, reject) => {
    const sent: ClientRequest = request(url + path, {
      method,
      // Not pooled, because the daemon may have just closed an idle connection.
      agent: proven ? proven.agent : false,
      headers,
      ...(signal && { signal }),
    })
    if (proven) proven.hold(sent)
    sent.on('response', resolve).on('error', reject).end(body)
  })
}

/**
 * Replaces `localhost` with `127.0.0.1`, because the name may resolve to two addresses, and another user may be
 * listening on the second one.
 */
export const numericUrl = (url: string) => url.replace('//localhost:', '//127.0.0.1:')
