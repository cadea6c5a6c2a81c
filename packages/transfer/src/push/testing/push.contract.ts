import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeGgufFile } from '@shoal/model-file/testing'
import type { RegistryClient } from '@shoal/protocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FaultyProxy, ProxyFault } from './faulty-proxy.ts'

/** The push port under test, and the proxy through which it publishes to a real registry. */
export type PushUnderTest = {
  proxy: FaultyProxy
  /** A client that is signed in as the publisher and bypasses the proxy. */
  client: RegistryClient
  /**
   * Publishes the file at `path` as a new model, through the proxy. Resolves when the port reports
   * it as published.
   */
  push(modelName: string, path: string): Promise<void>
  /** Lists everything that the port and the registry still store for unfinished uploads. */
  leftovers(): Promise<string[]>
}

/** Two chunks long, so that one chunk can be missing. */
const sizeBytes = 17 * 1024 * 1024
const filename = 'tide-Q8_0.gguf'
const chunkCalls = ['PUT chunk 1', 'PUT chunk 2']

const harms: [fault: ProxyFault, what: string, calls: string[]][] = [
  ['reset', 'the connection of each call is reset once', ['GET file', 'GET files']],
  ['lost-answer', 'the response to each call is lost once', ['GET files']],
  ['502', 'a proxy responds to each call once with 502', ['GET file', 'GET files']],
]

/**
 * Tests the faults that every port of the push engine must survive. `moreCalls` are the additional calls that this port
 * makes.
 */
export function pushContract(
  name: string,
  open: () => Promise<PushUnderTest>,
  moreCalls: readonly string[] = [],
) {
  describe(`a push (${name})`, () => {
    let under: PushUnderTest
    let folder: string

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'shoal-push-contract-'))
      under = await open()
    })
    afterAll(() => rm(folder, { recursive: true }))

    test.each(harms)('%s: %s', async (fault, _, calls) => {
      const { proxy, client } = under
      const modelName = `tide-${fault}`
      const path = join(folder, filename)
      await writeGgufFile(path, sizeBytes, Math.random())
      proxy.harmEachOnce(fault)
      await under.push(modelName, path)

      expect(proxy.harmed()).toEqual(
        expect.arrayContaining([
          ...[...calls, ...moreCalls, ...chunkCalls],
          ...['POST complete', 'POST files'],
        ]),
      )
      const files = await client.listFiles(modelName, { status: 'all' })
      const sha256_hash = createHash('sha256')
        .update(await readFile(path))
        .digest('hex')
      expect(files).toMatchObject([{ filename, status: 'ready', sha256_hash }])
      expect(proxy.taken().toSorted()).toEqual([1, 2])
      expect(await under.leftovers()).toEqual([])
    })
  })
}
