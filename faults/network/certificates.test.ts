import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:tls'
import { expect, test } from 'vitest'
import {
  type CertificateFiles,
  testAuthority,
  testCertificates,
} from '../../testing/tls-certificates/index.ts'

test.each([
  ['valid', 'trusted', 'ok'],
  ['valid', 'not trusted', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['expired', 'trusted', 'CERT_HAS_EXPIRED'],
  ['notYetValid', 'trusted', 'CERT_NOT_YET_VALID'],
  ['wrongName', 'trusted', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['selfSigned', 'trusted', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
] as const)('the certificate %s, its CA %s: %s', async (name, ca, outcome) => {
  expect(await handshake(testCertificates[name], ca === 'trusted')).toBe(outcome)
})

async function handshake({ certificate, key }: CertificateFiles, isTrusted: boolean) {
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) })
  server.on('tlsClientError', () => undefined) // the client reports the certificates that it refuses
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect({
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    servername: 'localhost',
    ...(isTrusted && { ca: readFileSync(testAuthority) }),
  })
  try {
    await once(client, 'secureConnect')
    return 'ok'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  } finally {
    client.destroy()
    server.close()
  }
}
