/** Tests the CLI on a failing network, from the command to the exit code. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testAuthority, testCertificates } from '../../../testing/tls-certificates/index.ts'
import { realRegistry } from './testing/real-registry.ts'
import { makeHome, runShoal, startShoal } from './testing/run-shoal.ts'
import { shoalHere } from './testing/shoal-here.ts'

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

function secureServer({ certificate, key }: { certificate: string; key: string }) {
  const tls = { cert: readFileSync(certificate), key: readFileSync(key) }
  return createSecureServer(tls, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
  })
}

/** Runs in this process, or in another one that reads `NODE_EXTRA_CA_CERTS`. */
async function search(
  registry: string,
  env: Record<string, string> = {},
  words: string[] = [],
  run: typeof runShoal = shoalHere,
) {
  await using home = await makeHome()
  const command = ['search', '--json', '--registry', registry, ...words]
  const { stdout, exitCode } = await run(command, { home: home.path, env })
  return { document: JSON.parse(stdout), exitCode }
}

test('a pull waits for a registry that was killed before the first byte, and succeeds', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  await registry.publish('late-tide', 3_000_000)
  await registry.stop()
  const { child, outcome } = startShoal(
    ['pull', 'late-tide', '-v', '--no-peers', '--registry', registry.url],
    { home: home.path },
  )
  // As soon as “Waiting” appears in the output, at least one request has failed.
  let output = ''
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (text: Buffer) => {
      output += text
      if (output.includes('Waiting')) resolve()
    })
    child.once('exit', () => resolve())
  })
  await registry.startAgain()
  const { exitCode, stdout, stderr } = await outcome
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
  expect(stdout.trim()).toBe(join(home.models, 'late-tide', 'late-tide.gguf'))
})

test('a private certificate authority is trusted only if a flag or a variable specifies it', async () => {
  const port = await listen(secureServer(testCertificates.valid))
  const address = `https://localhost:${port}`
  const refused = await search(address)
  expect(refused.exitCode).toBe(9)
  expect(refused.document.error).toMatchObject({
    code: 'tls_failed',
    reason: 'unknown_issuer',
    host: `localhost:${port}`,
    hint: 'If you trust the authority, pass its certificate with --cacert <file> or SHOAL_CA_FILE.',
  })
  for (const [env, words] of [
    [{}, ['--cacert', testAuthority]],
    [{ SHOAL_CA_FILE: testAuthority }, []],
    [{ NODE_EXTRA_CA_CERTS: testAuthority }, []],
  ] as [Record<string, string>, string[]][]) {
    expect(await search(address, env, words, runShoal)).toMatchObject({ exitCode: 0 })
  }
})

test('an invalid network setting is a usage error', async () => {
  const wrong: [Record<string, string>, string[], RegExp][] = [
    [{}, ['--cacert', '/nowhere.pem'], /CA file \/nowhere.pem cannot be read/],
    [{ HTTP_PROXY: 'socks5://proxy' }, [], /not an HTTP proxy address/],
    [{ SHOAL_NETWORK_TIMEOUTS: 'soon' }, [], /SHOAL_NETWORK_TIMEOUTS contains “soon”/],
  ]
  for (const [env, words, message] of wrong) {
    const { document, exitCode } = await search('http://127.0.0.1:9', env, words)
    expect(exitCode).toBe(2)
    expect(document.error.message).toMatch(message)
  }
})

test('each cause of a failure has a code, an exit code and a message', async () => {
  const portal = await listen(
    createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>')
    }),
  )
  const moved = await listen(
    createServer((_, response) => {
      response.writeHead(301, { location: 'https://elsewhere.invalid/' }).end()
    }),
  )
  const expired = await listen(secureServer(testCertificates.expired))
  const broken = await listen(
    createServer((_, response) => {
      response
        .writeHead(502, { 'content-type': 'text/html' })
        .end('<html><title>502 Bad Gateway</title>')
    }),
  )
  const soon = { SHOAL_NETWORK_TIMEOUTS: 'connect=1s,headers=1s,stall=1s' }
  const silent = await listen(createServer(() => undefined))
  const proxy = { HTTP_PROXY: 'http://127.0.0.1:9' }
  const ends = await Promise.all([
    search('http://127.0.0.1:9'),
    search('http://nobody.invalid'),
    search(`http://127.0.0.1:${silent}`, soon),
    search(`https://localhost:${expired}`, { SHOAL_CA_FILE: testAuthority }),
    search('http://registry.test', proxy),
    search(`http://127.0.0.1:${portal}`),
    search(`http://127.0.0.1:${moved}`),
    search(`http://127.0.0.1:${broken}`, { SHOAL_NETWORK_TIMEOUTS: 'giveup=1s' }),
  ])
  const failures = ends.map(({ exitCode, document: { error } }) => [
    exitCode,
    error.code,
    error.reason ?? error.status,
    error.message,
  ])
  expect(failures).toEqual([
    [6, 'unreachable', 'refused', 'Nothing is running at 127.0.0.1:9.'],
    [
      6,
      'unreachable',
      'dns',
      expect.stringMatching(
        /^The (host nobody.invalid was not found|DNS lookup of nobody.invalid failed)\.$/,
      ),
    ],
    [6, 'unreachable', 'timeout', `127.0.0.1:${silent} did not respond in time.`],
    [9, 'tls_failed', 'expired', `The certificate of localhost:${expired} has expired.`],
    [10, 'proxy_failed', 'refused', 'No proxy is running at 127.0.0.1:9.'],
    [
      11,
      'not_a_registry',
      'html',
      `127.0.0.1:${portal} returned a web page instead of a registry response: status 200.`,
    ],
    [
      12,
      'redirect_refused',
      'other_host',
      `127.0.0.1:${moved} redirects to another host: redirect to https://elsewhere.invalid.`,
    ],
    [
      13,
      'registry_failed',
      'http_502',
      'A server in front of the registry returned status 502 “Bad Gateway”.',
    ],
  ])
})

test('the local API is never called through a proxy', async () => {
  await using home = await makeHome()
  const env = { HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' }
  const { port } = await new Promise<{ port: number }>((resolve) => {
    const daemon = createServer((request, response) => {
      const body = request.url === '/healthz' ? { status: 'ok', pid: 1 } : { models: [] }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    listen(daemon).then((found) => resolve({ port: found }))
  })
  const words = ['ps', '--json', '--inference', `http://127.0.0.1:${port}`]
  const { stdout, exitCode } = await shoalHere(words, { home: home.path, env })
  expect({ stdout: JSON.parse(stdout), exitCode }).toEqual({ stdout: [], exitCode: 0 })
})

test('bytes lost by the store are not reported as an expired sign-in', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  await registry.publish('lost-tide', 3_000_000)
  await registry.loseBytes()
  const env = { SHOAL_TOKEN: registry.token, SHOAL_NETWORK_TIMEOUTS: 'giveup=2s' }
  const words = ['pull', 'lost-tide', '--no-peers', '--json', '--registry', registry.url]
  const { stdout, exitCode } = await shoalHere(words, { home: home.path, env })
  expect(exitCode).toBe(13)
  expect(JSON.parse(stdout).error).toMatchObject({ code: 'registry_failed' })
  expect(stdout).not.toContain('sign')
})
