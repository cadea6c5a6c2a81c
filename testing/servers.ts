/** The servers that tests share. Each is started when the first test asks for it, and stopped after the last test. */
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { inject } from 'vitest'
import type { S3Address } from './s3/start-s3.ts'

const { socket, installed } = inject('servers')

export const hasPostgres = installed.includes('postgres')
export const hasS3 = installed.includes('s3')
export const hasRedis = installed.includes('redis')

/** Returns the URL of a PostgreSQL server for test databases. */
export const postgresUrl = () => ask<string>('postgres')

/** Returns the address of an S3 server for test buckets. */
export const s3Address = () => ask<S3Address>('s3')

/** Returns the URL of a Redis server. Each test uses its own key prefix. */
export const redisUrl = () => ask<string>('redis')

/** Asks the process that runs the tests for a server. Throws if the server is not installed or does not start. */
async function ask<T>(server: (typeof installed)[number]): Promise<T> {
  const answer = await new Promise<{ address?: T; error?: string }>((resolve, reject) => {
    request({ socketPath: socket, path: `/${server}` }, (response) =>
      json(response).then((body) => resolve(body as { address?: T; error?: string }), reject),
    )
      .on('error', reject)
      .end()
  })
  if (answer.address === undefined) throw new Error(answer.error ?? `${server} has no address`)
  return answer.address
}
