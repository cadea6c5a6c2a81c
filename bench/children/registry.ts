/**
 * Runs a registry with default settings, except for rate limits that are too high to be reached. Logs to a file, as in
 * production.
 */
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { readRegistryConfig, startRegistry } from '@shoal/registry'
import type { EventLoopDelay, RegistryInput } from '../harness/registry.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'
import { answer, readInput, waitForStop } from './child.ts'

/** Requests are counted, and `RateLimit-*` headers are sent, but the limits are never reached. */
const rateLimits = ['auth', 'write', 'read', 'chunk', 'tracker'].map(
  (one) => `${one}=1000000000/min`,
)

const input = await readInput<RegistryInput>()
const { dataDirectory, databaseUrl, baseUrl, profile, settings } = input
const env = {
  SHOAL_RATE_LIMITS: rateLimits.join(','),
  DATABASE_URL: databaseUrl,
  ...settings,
}
const flags = { port: '0', data: dataDirectory, ...(baseUrl !== undefined && { baseUrl }) }
using logs = temporaryFolder()
const log = { file: join(logs.path, 'registry.log') }
const registry = await startRegistry({ ...readRegistryConfig(env, flags), log })
const stopProfiling = profile === undefined ? undefined : await startProfiling(profile)
if (input.measuresDelay) measureDelay()
const listensAt = `http://127.0.0.1:${registry.port}`
await answer({ url: registry.url, listensAt, token: await registry.systemToken() })
await waitForStop()
await stopProfiling?.()
await registry.close()
if (process.connected) process.disconnect()

function measureDelay() {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  process.on('message', async (message) => {
    if (message === 'reset') delays.reset()
    const measured: EventLoopDelay = {
      p999Ms: delays.percentile(99.9) / 1e6,
      maxMs: delays.max / 1e6,
    }
    await answer(measured)
  })
}

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
