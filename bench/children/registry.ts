/** A registry with default settings, but without a log and rate limits. */
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { readRegistryConfig, startRegistry } from '@shoal/registry'
import type { RegistryInput } from '../harness/registry.ts'
import { answer, readInput, waitForStop } from './child.ts'

const { dataDirectory, databaseUrl, baseUrl, profile } = await readInput<RegistryInput>()
const env = { SHOAL_RATE_LIMITS: 'off', DATABASE_URL: databaseUrl }
const flags = { port: '0', data: dataDirectory, ...(baseUrl !== undefined && { baseUrl }) }
const registry = await startRegistry(readRegistryConfig(env, flags))
const stopProfiling = profile === undefined ? undefined : await startProfiling(profile)
const listensAt = `http://127.0.0.1:${registry.port}`
await answer({ url: registry.url, listensAt, token: await registry.systemToken() })
await waitForStop()
await stopProfiling?.()
await registry.close()
if (process.connected) process.disconnect()

async function startProfiling(path: string) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 500 }) // microseconds
  await session.post('Profiler.start')
  return async () => {
    const result = await session.post('Profiler.stop')
    writeFileSync(path, JSON.stringify(result.profile))
    session.disconnect()
  }
}
