/** Runs the registry's nodes with the same program that users run. */
import { join } from 'node:path'
import { freePort } from '../testing/free-port.ts'
import { addToBalancer, nextNode } from './balancer.ts'
import { launch, untilReady } from './processes.ts'
import type { Cluster, ClusterState } from './state.ts'

const shoalProgram = join(import.meta.dirname, '../packages/cli/bin/shoal.js')

/** Starts a node with its own data folder, and resolves when the load balancer uses it. */
export async function addNode(cluster: Cluster): Promise<{ name: string; port: number }> {
  const port = await freePort()
  const name = `node${nextNode(cluster)}`
  const home = join(cluster.directory, name)
  const record = launch(cluster, {
    name,
    path: process.execPath,
    options: [shoalProgram, 'registry', '--port', `${port}`, '--data', home],
    port,
    env: { ...settingsOf(cluster.state), SHOAL_HOME: home, PATH: process.env.PATH ?? '' },
  })
  await untilReady(cluster, record, () => getReadiness(port))
  await addToBalancer(cluster, name, port)
  return { name, port }
}

/** Resolves to `ready` or `degraded`. Rejects with the reason if the node is not ready. */
export async function getReadiness(port: number): Promise<string> {
  const timeout = AbortSignal.timeout(5_000)
  const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: timeout })
  const { status, detail } = (await response.json()) as { status?: string; detail?: string }
  if (!response.ok || !status) throw new Error(detail ?? `status ${response.status}`)
  return status
}

function settingsOf({ url, ports, redisUrl, s3, settings }: ClusterState) {
  return {
    ...settings,
    SHOAL_HOST: '127.0.0.1',
    SHOAL_BASE_URL: url,
    SHOAL_TRUST_PROXY: '1',
    SHOAL_PEER_ADDRESS: '127.0.0.1',
    DATABASE_URL: `postgres://shoal@127.0.0.1:${ports.database}/postgres`,
    ...(redisUrl && { SHOAL_REDIS_URL: redisUrl }),
    ...(s3 && {
      SHOAL_S3_ENDPOINT: s3.endpoint,
      SHOAL_S3_REGION: s3.region,
      SHOAL_S3_BUCKET: s3.bucket,
      SHOAL_S3_ACCESS_KEY_ID: s3.accessKeyId,
      SHOAL_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    }),
  }
}
