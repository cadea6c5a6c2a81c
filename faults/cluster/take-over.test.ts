/**
 * Tests nodes whose clocks differ by an hour: a node takes over a file soon after the node that was processing it has
 * been killed, but not while that node is alive. The test is slow, because it starts a cluster.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createChunkHasher, makeManifest } from '@shoal/model-file'
import { makeGguf } from '@shoal/model-file/testing'
import type { ModelFile, ModelRecord, SignedIn, StartedUpload } from '@shoal/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { down } from '../../cluster/down.ts'
import { addNode } from '../../cluster/nodes.ts'
import { query } from '../../cluster/postgres.ts'
import { end, isRunning, send } from '../../cluster/processes.ts'
import { startAgain } from '../../cluster/start-again.ts'
import { type Cluster, getProcess } from '../../cluster/state.ts'
import { findMissing, up } from '../../cluster/up.ts'
import { findPostgresBinaries } from '../../testing/postgres.ts'
import { runsSlowTests, withSlowTests } from '../../testing/slow.ts'
import { findFaketime } from '../needs.ts'
import { removeAbandonedClocks, shiftedBy } from '../shifted-clock.ts'

const isInstalled = findMissing(new Set()).length === 0 && findFaketime() !== undefined
const timeoutMs = 240_000
/**
 * A lease lasts 15 s, and nodes look for files without a valid lease every 4 s. If the clocks of the nodes mattered, a
 * file would be taken over at once, or after an hour.
 */
const longWait = { timeout: 90_000, interval: 250 }

describe.runIf(runsSlowTests && isInstalled)(withSlowTests, { timeout: timeoutMs }, () => {
  let cluster: Cluster
  let clock: string
  let right: string
  let wrong: string
  let token: string
  let reef: ModelRecord

  beforeAll(async () => {
    const directory = join(tmpdir(), `shoal-take-over-${randomUUID()}`)
    const settings = { SHOAL_RATE_LIMITS: 'off' }
    cluster = await up({ directory, nodes: 1, without: new Set(), settings, say: () => undefined })
    right = `http://127.0.0.1:${getProcess(cluster, 'node1').program?.port}`
    clock = join(directory, 'clock')
    writeFileSync(clock, '-3600') // S3 servers refuse signatures with a time that differs by more than 15 minutes
    Object.assign(cluster.state.settings, shiftedBy(clock))
    wrong = `http://127.0.0.1:${(await addNode(cluster)).port}`
    const account = { username: 'ana', password: 'password of ana' }
    token = (await call<SignedIn>(right, 'POST', '/v1/auth/register', account)).access_token
    await call(right, 'POST', '/v1/models', { name: 'tide' })
    reef = await call<ModelRecord>(wrong, 'POST', '/v1/models', { name: 'reef' })
  }, timeoutMs)
  afterAll(async () => {
    if (cluster) await down(cluster)
    removeAbandonedClocks()
  })

  async function call<T>(node: string, method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(node + path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    expect(response.status, `${method} ${path}: ${text}`).toBeLessThan(300)
    return JSON.parse(text || 'null')
  }

  /** Uploads a file through the node with the correct clock, without submitting it. Resolves to the file's API path. */
  async function upload(model: string, seed: number): Promise<string> {
    const bytes = Buffer.from(
      makeGguf({
        metadata: { 'general.architecture': 'llama' },
        tensors: [{ name: 'token_embd.weight', shape: [64], type: 'F32' }],
        fill: (data) => data.fill(seed),
      }),
    )
    const hasher = createChunkHasher(bytes.length)
    hasher.update(bytes)
    const manifest = { filename: `${seed}.gguf`, ...makeManifest(hasher.digest()) }
    const files = `/v1/models/${model}/files`
    const started = await call<StartedUpload>(right, 'POST', files, manifest)
    for (const { url, headers } of started.upload.missing_chunks) {
      const sent = await fetch(url, { method: 'PUT', body: bytes, headers: headers ?? {} })
      expect(sent.status).toBe(200)
    }
    return `${files}/${started.id}`
  }

  const getStatus = async (node: string, file: string) =>
    (await call<ModelFile>(node, 'GET', file)).status

  const readLease = async (file: string) => {
    const id = file.split('/').at(-1)
    const row = await query(
      cluster.state.ports.primary,
      `select lease_holder, lease_until from file where id = '${id}'`,
    )
    const [holder = '', until = ''] = row.split('|')
    return { holder, until }
  }

  /** Locks a model's row, so that no node can publish the model's files. */
  async function lock(model: string) {
    const url = `postgres://shoal@127.0.0.1:${cluster.state.ports.primary}/postgres`
    const psql = spawn(join(findPostgresBinaries() ?? '', 'psql'), ['-XAtq', '-d', url])
    const closed = once(psql, 'close')
    psql.stdin.write(`begin; select name from model where name = '${model}' for update;\n`)
    await once(psql.stdout, 'data')
    return {
      async [Symbol.asyncDispose]() {
        psql.stdin.end()
        await closed
      },
    }
  }

  /** Sets the clock of the second node, and waits until the date of its responses has changed. */
  async function setClock(shiftSeconds: number) {
    writeFileSync(clock, `${shiftSeconds < 0 ? '' : '+'}${shiftSeconds}`)
    const getShift = async () => {
      const { headers } = await fetch(`${wrong}/healthz`)
      return (Date.parse(headers.get('date') ?? '') - Date.now()) / 1_000
    }
    await expect.poll(getShift, longWait).toSatisfy((s: number) => Math.abs(s - shiftSeconds) < 60)
  }

  test('a node whose clock is an hour behind starts, and stores the time of the database', () => {
    const minutes = (Date.parse(reef.created_at) - Date.now()) / 60_000
    expect(Math.abs(minutes)).toBeLessThan(10)
  })

  test.each([
    ['an hour ahead', 3_600],
    ['an hour behind', -3_600],
  ])(
    'a node whose clock is %s takes over a file only after the node that processes it is killed',
    async (_, shift) => {
      if (!isRunning(getProcess(cluster, 'node1'))) await startAgain(cluster, 'node1')
      const [file, other] = [
        await upload('tide', shift > 0 ? 1 : 2),
        await upload('reef', shift > 0 ? 3 : 4),
      ]
      await setClock(0)
      const node1 = getProcess(cluster, 'node1')
      const node2 = getProcess(cluster, 'node2')
      {
        await using _locked = await lock('tide')
        send(node2, 'SIGSTOP') // so that the first node processes the file
        await call(right, 'POST', `${file}/complete`)
        await expect
          .poll(() => readLease(file), longWait)
          .toMatchObject({ holder: expect.stringMatching(/./) })
        send(node2, 'SIGCONT')
        await setClock(shift)
        const first = await readLease(file)

        send(node1, 'SIGSTOP') // so that the second node processes the other file
        await call(wrong, 'POST', `${other}/complete`)
        await expect.poll(() => getStatus(wrong, other), longWait).toBe('ready')
        expect((await readLease(file)).holder).toBe(first.holder)
        send(node1, 'SIGCONT')
        const before = await readLease(file)
        await expect.poll(() => readLease(file), longWait).not.toEqual(before) // it was renewed
        expect((await readLease(file)).holder).toBe(first.holder)
        await end(node1, 'SIGKILL')
      }
      await expect.poll(() => getStatus(wrong, file), longWait).toBe('ready')
    },
  )
})
