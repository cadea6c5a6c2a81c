import type { TestProject } from 'vitest/node'
import { findChromium } from './browser.ts'
import { findProgram } from './find-program.ts'
import { canMakeNeighbours } from './neighbours.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import { startS3 } from './s3/start-s3.ts'
import { runsSlowTests } from './slow.ts'
import { canMount } from './small-disk.ts'
import { findOwnAddress, findTorrentClients } from './torrent-clients/find-torrent-clients.ts'

/**
 * Starts the services that the tests need and that are installed on this machine, and stops them at the end. With
 * `SHOAL_TEST_EVERYTHING`, the run fails if something is missing. Otherwise, the tests that need it are skipped.
 */
export default async function startServices(project: TestProject) {
  if (!runsSlowTests) {
    process.stderr.write(
      'Slow tests are skipped, such as those with faults, network namespaces, other BitTorrent clients or large models. Set SHOAL_TEST_SLOW=1 to run them.\n',
    )
  }
  const clients = runsSlowTests ? findTorrentClients() : {}
  for (const [name, program] of Object.entries(clients)) if (!program) missing(name)
  project.provide('torrentClients', clients)
  const ownAddress = findOwnAddress()
  if (!ownAddress) missing('an address other than loopback')
  project.provide('ownAddress', ownAddress)
  const chromium = findChromium()
  if (!chromium) missing('Chromium')
  project.provide('chromium', chromium)
  const hasNamespaces = runsSlowTests && canMakeNeighbours()
  if (runsSlowTests && !hasNamespaces) missing('network namespaces')
  project.provide('hasNetworkNamespaces', hasNamespaces)
  if (!canMount) missing('permission to mount a small disk')
  const [postgres, s3, redis] = await Promise.all([
    startPostgres({ hasAutovacuum: false }),
    startS3(),
    startRedis(),
  ])
  if (!postgres) missing('PostgreSQL')
  project.provide('postgresUrl', postgres?.url)
  if (!s3) missing('an S3 server (radosgw)')
  project.provide('s3', s3?.address)
  if (!redis) missing('Redis')
  project.provide('redisUrl', redis?.url)
  project.provide('haproxy', findProgram('haproxy'))
  project.provide('pgbouncer', findProgram('pgbouncer'))
  for (const name of ['haproxy', 'nginx', 'pgbouncer', 'docker-compose']) {
    if (!findProgram(name)) missing(name)
  }
  return async () => {
    await Promise.all([postgres?.stop(), s3?.stop(), redis?.stop()])
  }
}

function missing(what: string) {
  if (process.env.SHOAL_TEST_EVERYTHING) {
    throw new Error(`not available: ${what}. SHOAL_TEST_EVERYTHING does not allow skipped tests`)
  }
  process.stderr.write(`not available: ${what}. Tests that need it are skipped\n`)
}
