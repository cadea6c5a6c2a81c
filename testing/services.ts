import type { TestProject } from 'vitest/node'
import { findChromium } from './browser.ts'
import { canMakeNeighbours } from './neighbours.ts'
import { startPostgres } from './postgres.ts'
import { runsSlowTests } from './slow.ts'
import { canMount } from './small-disk.ts'
import { findOwnAddress, findTorrentClients } from './torrent-clients/find-torrent-clients.ts'

/**
 * Starts what the tests can use and this machine has, and stops it at the end. With `SHOAL_TEST_EVERYTHING` set, what is not there
 * is a failure, not a skip.
 */
export default async function startServices(project: TestProject) {
  if (!runsSlowTests) {
    process.stderr.write(
      'Slow tests are skipped without SHOAL_TEST_SLOW=1: other BitTorrent clients, network namespaces, repeated kills, faults, long prompts and larger models, each page in each theme and width\n',
    )
  }
  const clients = runsSlowTests ? findTorrentClients() : {}
  for (const [name, program] of Object.entries(clients)) if (!program) missing(name)
  project.provide('torrentClients', clients)
  const ownAddress = findOwnAddress()
  if (!ownAddress) missing('an address beside loopback')
  project.provide('ownAddress', ownAddress)
  const chromium = findChromium()
  if (!chromium) missing('Chromium')
  project.provide('chromium', chromium)
  const hasNamespaces = runsSlowTests && canMakeNeighbours()
  if (runsSlowTests && !hasNamespaces) missing('network namespaces')
  project.provide('hasNetworkNamespaces', hasNamespaces)
  if (!canMount) missing('the right to mount a small disk')
  const postgres = await startPostgres()
  if (!postgres) missing('PostgreSQL')
  project.provide('postgresUrl', postgres?.url)
  return async () => {
    await postgres?.stop()
  }
}

function missing(what: string) {
  if (process.env.SHOAL_TEST_EVERYTHING) {
    throw new Error(`${what} is not here, and SHOAL_TEST_EVERYTHING allows no skips`)
  }
  process.stderr.write(`${what} is not here: the tests that need it are skipped\n`)
}
