import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openS3 } from './open-s3.ts'
import { minimalSupport } from './s3-support.ts'

const hourMs = 3_600_000
const toleranceMs = 15 * 60_000
const readTime = (text: string) =>
  Date.parse(text.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z'))

/** Starts a store whose clock is ahead of this machine's. It lists an empty bucket, and refuses other times like S3. */
async function storeAhead(ms: number) {
  const server = createServer((request, response) => {
    const now = new Date(Date.now() + ms)
    const time = readTime(String(request.headers['x-amz-date']))
    const isSkewed = Math.abs(time - now.getTime()) > toleranceMs
    const body = isSkewed
      ? '<Error><Code>RequestTimeTooSkewed</Code></Error>'
      : '<ListBucketResult/>'
    response.writeHead(isSkewed ? 403 : 200, { date: now.toUTCString() }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.each([-hourMs, 0, hourMs])(
  'signatures contain the time of a store whose clock is %i ms ahead',
  async (ms) => {
    const { store, clockOffsetMs } = await openS3(
      {
        bucket: {
          endpoint: await storeAhead(ms),
          region: 'here',
          bucket: 'models',
          usesPathStyle: true,
        },
        credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
        publicEndpoint: undefined,
        prefix: 'shoal/',
        support: minimalSupport,
      },
      { signingKey: '', baseUrl: () => '', isProbed: false },
    )
    const url = await store.presignRead('object', { filename: 'tide.gguf', expiresInSeconds: 60 })
    const signedAt = readTime(new URL(url).searchParams.get('X-Amz-Date') ?? '')
    expect(Math.abs(signedAt - Date.now() - ms)).toBeLessThan(toleranceMs)
    expect(Math.abs(clockOffsetMs - ms)).toBeLessThan(toleranceMs)
    await store.close()
  },
)
