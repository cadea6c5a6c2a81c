#!/bin/sh
# @aws-sdk/client-s3 3.1173.0 and @aws-sdk/s3-request-presigner 3.1169.0 (npm), Node 24: a client whose clock is wrong
# works, but the URLs that it presigns do not.
#
# If a store refuses a request because of its time (`RequestTimeTooSkewed`), the client learns the difference from the
# response's `Date`, and signs the second attempt and all later requests with the store's time. `getSignedUrl` takes
# the same client, but signs with the machine's own time. A program that stores an object without an error therefore
# hands out URLs for it that the store refuses.
#
# Output: how many attempts storing an object took, and by how many minutes the store's clock is ahead of the time in
# the later request and in the URL.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts \
  @aws-sdk/client-s3@3.1173.0 @aws-sdk/s3-request-presigner@3.1169.0
cat >run.mjs <<'END'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'

const aheadMs = 3_600_000
const storeTime = () => new Date(Date.now() + aheadMs)
const minutesBehind = (text) => {
  const iso = text.replace(/(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3:$4:$5Z')
  return Math.round((storeTime() - new Date(iso)) / 60_000)
}

// A store whose clock is an hour ahead, and which checks only the time of a request
const times = []
const server = createServer((request, response) => {
  const behind = minutesBehind(request.headers['x-amz-date'])
  times.push(behind)
  response.setHeader('date', storeTime().toUTCString())
  request.resume()
  if (Math.abs(behind) < 15) return response.end()
  response.writeHead(403, { 'content-type': 'application/xml' })
  response.end('<Error><Code>RequestTimeTooSkewed</Code><Message>The clocks differ.</Message></Error>')
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

const client = new S3Client({
  ...{ region: 'us-east-1', endpoint: `http://127.0.0.1:${server.address().port}` },
  ...{ forcePathStyle: true, credentials: { accessKeyId: 'key', secretAccessKey: 'secret' } },
})
const object = { Bucket: 'bucket', Key: 'model' }
await client.send(new PutObjectCommand({ ...object, Body: 'bytes' }))
console.log(`attempts: ${times.length}`)
await client.send(new HeadObjectCommand(object))
console.log(`later request: ${times.at(-1)}`)
const url = new URL(await getSignedUrl(client, new GetObjectCommand(object), { expiresIn: 900 }))
console.log(`presigned URL: ${minutesBehind(url.searchParams.get('X-Amz-Date'))}`)
server.close()
client.destroy()
END
node run.mjs >found
cat found
printf 'attempts: 2\nlater request: 0\npresigned URL: 60\n' | diff - found
