import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { expect, onTestFinished, test } from 'vitest'
import { openS3 } from './open-s3.ts'
import { probeS3 } from './probe-s3.ts'
import { defaultTimeouts, openS3Caller, type S3Caller } from './s3-client.ts'

/** Starts a server that gives the same response to all requests. Returns its address. */
async function startServer(status: number, type: string, body: string) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status, { 'content-type': type }).end(body))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Probes a store that accepts the registry's own requests, but refuses uploads with presigned URLs. */
async function refusal(body: string) {
  const address = await startServer(403, 'application/xml', body)
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
    presign: () => address,
    allow: (_action, step) => step(),
  })
  return probe.catch((error: Error) => error.message)
}

test('if the store refuses presigned URLs, the error has its reason', async () => {
  const denied = '<Error><Code>AccessDenied</Code><Message>Not from here</Message></Error>'
  const refused =
    'the S3 store at https://s3.test (SHOAL_S3_ENDPOINT) refuses uploads with presigned URLs:'
  expect(await refusal(denied)).toBe(`${refused} status 403 “AccessDenied: Not from here”`)
})

test.each([
  [404, '<html><head><title>404 Not Found</title></head><body><hr></body></html>', ' “Not Found”'],
  [403, '<html><body><h1>403 Forbidden</h1></body></html>', ''], // well-formed, so the SDK does not keep the text
  [200, '<html><title>Hotel WLAN</title></html>', 'the S3 store returned no upload ID'],
])(
  'a server that responds with status %i and a web page is not mistaken for a store',
  async (status, page, reason) => {
    const endpoint = await startServer(status, 'text/html', page)
    const bucket = { endpoint, bucket: 'models', region: 'us-east-1', usesPathStyle: true }
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
    const config = { bucket, credentials, prefix: '', publicEndpoint: undefined }
    const opening = openS3(config, {
      signingKey: 'k',
      baseUrl: () => 'http://a.test',
      isProbed: true,
    })
    await expect(opening).rejects.toThrow(
      `the server at ${endpoint} (SHOAL_S3_ENDPOINT) does not respond like an S3 store: ${status === 200 ? '' : `status ${status}`}${reason}`,
    )
    if (status === 200) return
    const caller = openS3Caller(bucket, credentials)
    onTestFinished(() => caller.close())
    const getting = caller.send(new GetObjectCommand({ Bucket: 'models', Key: 'a' }))
    await expect(getting).rejects.toMatchObject({ code: 'unavailable' })
  },
)
