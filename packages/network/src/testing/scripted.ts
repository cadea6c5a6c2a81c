/** Servers with scripted responses, and a transport to call them. */
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { type ApiRequest, NetworkError, type NetworkFailure } from '@shoal/protocol/client'
import { expect, onTestFinished } from 'vitest'
import { testAuthority } from '../../../../testing/tls-certificates/index.ts'
import { openNetwork } from '../dispatcher.ts'
import { httpTransport } from '../http-transport.ts'
import { directNetwork, type NetworkSettings } from '../settings.ts'
import { type Handler, json, startServer } from './servers.ts'

/** Settings that trust the tests' certificate authority. */
export const trusting = { extraCa: readFileSync(testAuthority, 'utf8') }
export const shortTimeouts = { connectMs: 2_000, headersMs: 300, stallMs: 300, giveUpMs: 3_000 }

/** Returns a function that sends requests, with GET by default. Connections are closed at the end of the test. */
export function openTransport(settings: Partial<NetworkSettings> = {}) {
  const network = openNetwork({ ...directNetwork, ...settings })
  onTestFinished(() => network.destroy())
  const transport = httpTransport(network)
  return (url: string, changes: Partial<ApiRequest> = {}) =>
    transport({ method: 'GET', url, headers: {}, ...changes })
}

export const noRetry = { retry: { firstContactMs: 0, giveUpMs: 0 } }

/**
 * Returns the failure of a request, which by default is not retried. Checks that `detail` is not empty, and omits it
 * from the result.
 */
export async function failureAt(
  url: string,
  settings: Partial<NetworkSettings> = {},
  changes: Partial<ApiRequest> = noRetry,
): Promise<Omit<NetworkFailure, 'detail'>> {
  const error = await openTransport(settings)(url, changes).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(NetworkError)
  const { detail, ...failure } = error.failure
  expect(detail).toMatch(/\w/)
  return failure
}

/** Starts a server that handles each request with the next handler. The last handler handles all later requests. */
export async function scripted(...handlers: Handler[]) {
  const requests: IncomingMessage[] = []
  const server = await startServer((request, response) => {
    requests.push(request)
    const handle = handlers.length > 1 ? handlers.shift() : handlers[0]
    handle?.(request, response)
  })
  const host = `127.0.0.1:${server.port}`
  return { ...server, url: `http://${host}`, host, requests }
}

export const fine: Handler = (_, response) => json(response, { is: 'fine' })

export const status =
  (code: number, headers = {}): Handler =>
  (_, response) =>
    json(response, { detail: 'no' }, code, headers)

export const reset: Handler = ({ socket }) => socket.resetAndDestroy()

export const redirect =
  (location: string, code = 302): Handler =>
  (_, response) =>
    response.writeHead(code, { location }).end()
