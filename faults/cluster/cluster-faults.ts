/** Faults in which a part of a registry with several nodes dies or is restarted, while the registry is under load. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeGguf } from '@shoal/model-file/testing'
import type { ModelFile, Upload } from '@shoal/protocol'
import { runShoal } from '../../bench/harness/shoal.ts'
import { untilUp } from '../../cluster/balancer.ts'
import { addNode } from '../../cluster/nodes.ts'
import { promoteStandby, query, stopSignals } from '../../cluster/postgres.ts'
import { end } from '../../cluster/processes.ts'
import { startAgain } from '../../cluster/start-again.ts'
import { type Cluster, getProcess } from '../../cluster/state.ts'
import { isDone } from '../harness/client.ts'
import { until } from '../harness/waiting.ts'
import type { World } from '../harness/world.ts'
import type { ClusterFault } from './cluster-fault.ts'

/**
 * The pause between two operations: without it, the load would take the processor time that starting nodes and servers
 * need.
 */
const pauseMs = 50

const kill = (cluster: Cluster, name: string) => end(getProcess(cluster, name), 'SIGKILL')

export const clusterFaults: readonly ClusterFault[] = [
  {
    name: 'kill-node',
    summary:
      'Kill a node (SIGKILL), and add another one, while files are pushed, pulled and announced.',
    load: { weights: { push: 10, like: 20 }, largeShare: 0.3, pauseMs },
    async strike({ cluster, world, load }) {
      await using _ = startAnnouncing(world)
      const [owner] = world.ledger.accounts
      if (!owner) throw new Error('there is no account')
      const home = join(cluster.directory, 'client')
      mkdirSync(home)
      const file = join(home, 'long-way.gguf')
      writeFileSync(file, makeLargeGguf())
      const registry = { url: cluster.state.url, token: owner.token }
      const pushing = runShoal(['push', file, '--limit-rate', '16MB'], { home, registry })
      await Promise.race([pushing, untilPartlyStored(world, 'long-way', owner.token)])
      await kill(cluster, 'node1')
      await pushing
      const pulling = runShoal(['pull', 'long-way', '--limit-rate', '32MB'], { home, registry })
      await addNode(cluster)
      await load.untilDone('like', 20)
      await pulling
      await startAgain(cluster, 'node1')
    },
  },
  {
    name: 'redis',
    summary: 'Kill Redis, and start it again.',
    load: { weights: { like: 20 }, pauseMs },
    async strike({ cluster, world, load }) {
      await using _ = startAnnouncing(world)
      await kill(cluster, 'redis')
      await load.untilDone('like', 30)
      await startAgain(cluster, 'redis')
    },
  },
  {
    name: 'store',
    summary: 'Kill the S3 server while files are pushed, and start it again.',
    load: { weights: { push: 20 }, largeShare: 0.3, pauseMs },
    async strike({ cluster, load }) {
      await load.untilDone('chunk', 3)
      await kill(cluster, 'radosgw')
      await load.untilTried('push', 10)
      await load.untilDone('like', 10)
      await startAgain(cluster, 'radosgw')
    },
  },
  {
    name: 'database-restart',
    summary: 'Restart PostgreSQL in fast mode.',
    load: { weights: { push: 6 }, pauseMs },
    async strike({ cluster, load }) {
      await end(getProcess(cluster, 'primary'), stopSignals.fast)
      await load.untilTried('like', 10)
      await startAgain(cluster, 'primary')
    },
  },
  {
    name: 'database-cut',
    summary: 'Close every connection to PostgreSQL repeatedly (pg_terminate_backend).',
    load: { weights: { like: 20, download: 20 } },
    async strike({ cluster, world }) {
      for (let cuts = 0; cuts < 20; cuts += 1) {
        await query(
          cluster.state.ports.primary,
          `select count(pg_terminate_backend(pid)) from pg_stat_activity
           where backend_type = 'client backend' and pid <> pg_backend_pid()`,
        )
        await sleep(world.random.integer(60))
      }
    },
  },
  {
    name: 'promote',
    summary: 'Crash the PostgreSQL primary, and promote its standby.',
    load: { weights: { push: 6 }, pauseMs },
    async strike({ cluster, load }) {
      await load.untilDone('submit', 1)
      await promoteStandby(cluster)
      await untilUp(cluster, 'database', 'standby')
    },
  },
]

/** Makes a GGUF file of 64 MB whose chunks all differ. */
function makeLargeGguf(): Uint8Array {
  return makeGguf({
    metadata: { 'general.architecture': 'llama', 'general.file_type': 0 },
    tensors: [{ name: 'token_embd.weight', shape: [16_000_000], type: 'F32' }],
    fill: (data) => {
      for (let at = 0; at < data.length; at += 1_000_000) data.set(randomBytes(32), at)
    },
  })
}

/** Waits until at least one chunk of the model's only upload is stored. */
async function untilPartlyStored(world: World, model: string, token: string) {
  const files = `/v1/models/${model}/files`
  const isPartlyStored = async () => {
    const listed = await world.client.send<ModelFile[]>('GET', `${files}?status=all`, { token })
    const [file] = isDone(listed) ? listed.body : []
    if (!file) return false
    const path = `${files}/${file.id}/upload`
    const upload = await world.client.send<Upload>('GET', path, { token })
    const chunks = Math.ceil(file.file_size_bytes / file.chunk_size)
    return isDone(upload) && upload.body.missing_count < chunks
  }
  await until('some chunks are stored', 30_000 * world.timeoutFactor, isPartlyStored, pauseMs)
}

/** Announces new peers of a public file until it is disposed of. */
function startAnnouncing({ client, ledger, failures }: World): AsyncDisposable {
  let isStopped = false
  const announcing = announce()

  async function announce() {
    const model = ledger.models.find(({ isPublic, isKept }) => isPublic && isKept)
    const { body } = await client.get<ModelFile[]>(`/v1/models/${model?.name}/files`)
    const infoHash = body[0]?.torrent_info_hash?.replaceAll(/../g, '%$&')
    for (let port = 10_000; !isStopped; port += 1) {
      const peer = `peer_id=-XX0001-${String(port).padStart(12, '0')}&port=${port}&left=1`
      const { status, bytes } = await client.send(
        'GET',
        `/announce?info_hash=${infoHash}&${peer}&compact=1`,
        {},
      )
      const text = bytes.toString('latin1')
      if (status === 'late') failures.stuck('an announce is answered', status)
      if (status === 200 && !text.includes('8:interval')) {
        failures.wrong('an announce of a public file is accepted', text.slice(0, 100))
      }
      await sleep(pauseMs)
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      isStopped = true
      await announcing
    },
  }
}
