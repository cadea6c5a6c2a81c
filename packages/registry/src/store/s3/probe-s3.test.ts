import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { probeS3 } from './probe-s3.ts'
import { defaultTimeouts, type S3Caller } from './s3-client.ts'

/** Probes a store that accepts the registry's own requests, but refuses uploads with presigned URLs. */
async function refusal(body: string) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(403).end(body))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const caller = {
    timeouts: defaultTimeouts,
    send: async () => ({ UploadId: 'an-upload', $metadata: {} }),
    run: (request: (signal: AbortSignal) => unknown) => request(AbortSignal.timeout(10_000)),
  } as unknown as S3Caller
  const probe = probeS3({
    caller,
    endpoint: 'https://s3.test',
    bucket: 'models',
    names: { probe: () => 'probe' } as never,
    presign: () => `http://127.0.0.1:${port}/`,
    allow: (_action, step) => step(),
  })
  return probe.catch((error: Error) => error.message)
}

test('if the store refuses presigned URLs, the error has its reason', async () => {
  const denied = '<Error><Code>AccessDenied</Code><Message>Not from here</Message></Error>'
  const refused =
    'the S3 store at https://s3.test (SHOAL_S3_ENDPOINT) refuses uploads with presigned URLs:'
  expect(await refusal(denied)).toBe(`${refused} status 403, AccessDenied, Not from here`)
})
