/** Runs `scripts/cluster` as users do. The tests are slow, because each cluster consists of ten processes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findProcesses } from '../testing/find-processes.ts'
import { findProgram } from '../testing/programs.ts'
import { runsSlowTests, withSlowTests } from '../testing/slow.ts'
import type { ProcessStatus } from './status.ts'
import { clusterProgram, makeClusterDirectory, runCluster } from './testing/run-cluster.ts'
import { takeTour } from './testing/tour.ts'
import { findMissing } from './up.ts'

const isInstalled = findMissing(new Set()).length === 0
const timeoutMs = 240_000

async function cluster(directory: string, ...words: string[]): Promise<string> {
  return (await runCluster(directory, words)).stdout
}

async function listProcesses(directory: string): Promise<ProcessStatus[]> {
  return JSON.parse(await cluster(directory, 'status', '--json'))
}

/** Resolves to the health of each process by name. */
async function getHealth(directory: string): Promise<Record<string, string>> {
  const rows = await listProcesses(directory)
  return Object.fromEntries(rows.map(({ name, health }) => [name, health]))
}

/** Resolves to the load balancer's status of each server, by server name. */
async function getBalanced(directory: string): Promise<Record<string, string | undefined>> {
  const rows = await listProcesses(directory)
  const checked = rows.filter(({ balancer }) => balancer !== undefined)
  return Object.fromEntries(checked.map(({ name, balancer }) => [name, balancer]))
}

const post = (url: string, body: object, token?: string) =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })

const cleo = { username: 'cleo', password: 'correct horse battery staple' }

describe.runIf(runsSlowTests && isInstalled)(withSlowTests, { timeout: timeoutMs }, () => {
  describe('a cluster', () => {
    const directory = makeClusterDirectory(afterAll)
    let url = ''
    let instructions = ''
    beforeAll(async () => {
      const settings = { SHOAL_QUOTA: '7GB' }
      const { stdout, stderr } = await runCluster(directory, ['up'], settings)
      url = stdout
      instructions = stderr
    }, timeoutMs)

    test.runIf(findProgram('aria2c'))('runs the quick tour with the demo model', async () => {
      await takeTour(url, instructions)
    })

    test('serves requests while nodes are killed and added, and its standby is promoted', async () => {
      expect(await getHealth(directory)).toEqual({
        primary: 'primary',
        standby: 'standby',
        redis: 'ready',
        'ceph-mon': 'running',
        'ceph-osd': 'running',
        radosgw: 'ready',
        haproxy: 'ready',
        node1: 'ready',
        node2: 'ready',
        node3: 'ready',
      })
      await expect(cluster(directory, 'up')).rejects.toThrow('already exists')
      expect((await fetch(`${url}/v1/models`)).status).toBe(200)

      const registered = await post(`${url}/v1/auth/register`, cleo)
      expect(registered.status).toBe(201)
      const { access_token: token } = (await registered.json()) as { access_token: string }
      const me = await fetch(`${url}/v1/auth/me`, { headers: { authorization: `Bearer ${token}` } })
      expect(await me.json()).toMatchObject({ usage: { quota_bytes: 7_000_000_000 } }) // `up` has passed SHOAL_QUOTA on to the nodes
      const created = await post(`${url}/v1/models`, { name: 'tide' }, token)
      expect(created.status).toBe(201)

      await cluster(directory, 'kill', '1')
      expect((await getHealth(directory)).node1).toBe('exited')
      for (let call = 0; call < 6; call += 1) {
        expect((await fetch(`${url}/v1/models/tide`)).status).toBe(200)
      }
      await expect.poll(() => getBalanced(directory)).toMatchObject({ node1: 'DOWN' })
      expect(await cluster(directory, 'add')).toMatch(/^node4: http:/)

      await cluster(directory, 'promote')
      await expect
        .poll(() => getBalanced(directory))
        .toEqual({
          primary: 'DOWN',
          standby: 'UP',
          node1: 'DOWN',
          node2: 'UP',
          node3: 'UP',
          node4: 'UP',
        })
      expect(await getHealth(directory)).toMatchObject({ primary: 'exited', standby: 'primary' })
      expect((await fetch(`${url}/v1/models/tide`)).status).toBe(200)
      expect((await post(`${url}/v1/models`, { name: 'reef' }, token)).status).toBe(201)

      await cluster(directory, 'down')
      expect(findProcesses(directory)).toEqual([])
      expect(existsSync(directory)).toBe(false)
      await expect(cluster(directory, 'status')).rejects.toThrow('no cluster in')
    })
  })

  test('a cluster can run without S3 and Redis, but several nodes need S3', async () => {
    const directory = makeClusterDirectory()
    const words = ['up', '--without', 's3,redis']
    await expect(cluster(directory, ...words)).rejects.toThrow('add --nodes 1')
    await cluster(directory, ...words, '--nodes', '1')
    const names = ['primary', 'standby', 'haproxy', 'node1']
    expect(Object.keys(await getHealth(directory))).toEqual(names)
  })

  test('an interrupted `up` leaves nothing behind', async () => {
    const directory = makeClusterDirectory()
    const starting = spawn(clusterProgram, ['up', '--directory', directory], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [text] = await once(starting.stderr, 'data')
    expect(String(text)).toMatch(/^(Redis|PostgreSQL|S3)\b/) // the first service is ready
    starting.kill('SIGTERM')
    expect(await once(starting, 'exit')).toEqual([130, null])
    expect(findProcesses(directory)).toEqual([])
    expect(existsSync(directory)).toBe(false)
  })
})
