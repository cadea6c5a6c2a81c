import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { slowTest } from '../../../testing/slow-test.ts'
import { type RealRegistry, realRegistry } from './testing/real-registry.ts'
import { makeHome } from './testing/run-shoal.ts'
import { shoalHere } from './testing/shoal-here.ts'

slowTest(
  'with --only-peers, a tracker that keeps failing ends the pull with an error message and exit code 6',
  async () => {
    await using home = await makeHome()
    await using registry = await realRegistry()
    await registry.publish('tide', 3_000_000)
    const { url, host } = await withoutTracker(registry)
    const words = ['pull', 'tide', '--only-peers', '--json', '--registry', url]
    const env = { SHOAL_NETWORK_TIMEOUTS: 'stall=1s,giveup=1s' }
    const { stdout, exitCode } = await shoalHere(words, { home: home.path, env })
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'unreachable',
      reason: 'no_peers',
      message: `No peer to download from: the tracker at ${host} returned status 503.`,
      hint: 'Try again later, or without --only-peers.',
    })
    expect(exitCode).toBe(6)
  },
)

/**
 * Starts a proxy for the registry. The proxy rejects announce requests, and replaces the tracker's address in responses
 * with its own.
 */
async function withoutTracker(registry: RealRegistry) {
  const realHost = encodeURIComponent(new URL(registry.url).host)
  const server = createServer(async ({ url = '' }, response) => {
    if (url.startsWith('/announce')) return response.writeHead(503).end()
    const answer = await fetch(registry.url + url)
    const body = Buffer.from(await answer.arrayBuffer())
    const changed = body.toString('latin1').replaceAll(realHost, encodeURIComponent(host))
    const contentType = answer.headers.get('content-type') ?? 'application/octet-stream'
    response.writeHead(answer.status, { 'content-type': contentType })
    response.end(Buffer.from(changed, 'latin1'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: `http://${host}`, host }
}
