import {
  GetObjectCommand,
  type GetObjectCommandInput,
  S3Client,
  UploadPartCommand,
  type UploadPartCommandInput,
} from '@aws-sdk/client-s3'
import { describe, expect, test } from 'vitest'
import { type S3Bucket, s3Presigner } from './presign-s3.ts'

const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}

test('signs the example in the Amazon S3 documentation', () => {
  const presign = s3Presigner(
    {
      endpoint: 'https://s3.amazonaws.com',
      bucket: 'examplebucket',
      region: 'us-east-1',
      usesPathStyle: false,
    },
    credentials,
  )
  const request = { method: 'GET' as const, key: 'test.txt', expiresInSeconds: 86_400 }
  expect(presign(request, new Date('2013-05-24T00:00:00Z'))).toBe(
    'https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  )
})

const payloadHash = 'x-amz-content-sha256'

type SdkRequest = {
  hostname: string
  port?: number
  path: string
  headers: Record<string, string>
  query: Record<string, string>
}

describe.each([
  { endpoint: 'https://s3.eu-central-1.amazonaws.com', usesPathStyle: false },
  { endpoint: 'https://s3.example.org:8443', usesPathStyle: false },
  { endpoint: 'http://127.0.0.1:7480', usesPathStyle: true },
  { endpoint: 'https://s3.example.org', usesPathStyle: true },
])('like the AWS SDK ($endpoint, path style: $usesPathStyle)', (address) => {
  const place: S3Bucket = { ...address, bucket: 'models', region: 'eu-central-1' }
  const now = new Date('2026-02-28T23:59:59Z')
  const expiresInSeconds = 604_800

  /** Returns the URL that the SDK signs for a request, without `x-id`, which the SDK adds only for statistics. */
  async function presignWithSdk(
    command: GetObjectCommand | UploadPartCommand,
    signedHeaders: string[] = [],
  ): Promise<URL> {
    const client = new S3Client({
      endpoint: place.endpoint,
      region: place.region,
      forcePathStyle: place.usesPathStyle,
      credentials,
      requestChecksumCalculation: 'WHEN_REQUIRED',
    })
    let serialized: SdkRequest | undefined
    client.middlewareStack.add(
      () => async (args) => {
        serialized = args.request as SdkRequest
        return { response: undefined, output: { $metadata: {} } as never }
      },
      { step: 'build', priority: 'low' },
    )
    await client.send(command as GetObjectCommand)
    if (!serialized) throw new Error('the request was not serialized')
    const { 'x-id': _id, ...query } = serialized.query
    for (const name of Object.keys(serialized.headers)) {
      if (!signedHeaders.includes(name)) delete serialized.headers[name]
    }
    const { hostname, port } = serialized
    serialized.headers[payloadHash] ??= 'UNSIGNED-PAYLOAD'
    serialized.headers.host = port ? `${hostname}:${port}` : hostname
    const signer = (await client.config.signer()) as unknown as {
      presign(request: object, options: object): Promise<SdkRequest>
    }
    const signed = await signer.presign(Object.assign(serialized, { query }), {
      expiresIn: expiresInSeconds,
      signingDate: now,
      unhoistableHeaders: new Set([...signedHeaders, payloadHash]),
      unsignableHeaders: new Set(signedHeaders.includes(payloadHash) ? [] : [payloadHash]),
    })
    const url = new URL(signed.path, `${new URL(place.endpoint).protocol}//${signed.headers.host}`)
    for (const [name, value] of Object.entries(signed.query)) url.searchParams.set(name, value)
    return url
  }
  function expectSame(ours: string, theirs: URL) {
    const url = new URL(ours)
    expect(url.origin + url.pathname).toBe(theirs.origin + theirs.pathname)
    expect(Object.fromEntries(url.searchParams)).toEqual(Object.fromEntries(theirs.searchParams))
  }

  test.each(['shoal/objects/0197-1', "a b/ü/~!'()*+,;=:@&$#?%/漢字"])(
    'signs downloads of %s',
    async (key) => {
      const disposition = `attachment; filename="a b+c&d='e'.gguf"`
      const input: GetObjectCommandInput = {
        Bucket: place.bucket,
        Key: key,
        ResponseContentDisposition: disposition,
      }
      const ours = s3Presigner(place, credentials)(
        {
          method: 'GET',
          key,
          query: { 'response-content-disposition': disposition },
          expiresInSeconds,
        },
        now,
      )
      expectSame(ours, await presignWithSdk(new GetObjectCommand(input)))
    },
  )

  test('signs part uploads, with the headers that the client must send', async () => {
    const sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    const headers = {
      'x-amz-content-sha256': sha256,
      'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
    }
    const key = 'shoal/objects/0197-2'
    const query = { partNumber: '12', uploadId: '2~a/b+c=d e' }
    const input: UploadPartCommandInput = {
      Bucket: place.bucket,
      Key: key,
      PartNumber: 12,
      UploadId: query.uploadId,
      ChecksumSHA256: headers['x-amz-checksum-sha256'],
    }
    const command = new UploadPartCommand(input)
    command.middlewareStack.add(
      (next) => (args) => {
        Object.assign((args.request as SdkRequest).headers, headers)
        return next(args)
      },
      { step: 'build', priority: 'high' },
    )
    const ours = s3Presigner(place, credentials)(
      { method: 'PUT', key, query, headers, expiresInSeconds },
      now,
    )
    expectSame(ours, await presignWithSdk(command, Object.keys(headers)))
  })
})
