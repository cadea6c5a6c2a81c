import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres.ts'

/**
 * Starts what the tests can use and this machine has, and stops it at the end. With `SHOAL_TEST_EVERYTHING` set, what is not there
 * is a failure, not a skip.
 */
export default async function startServices(project: TestProject) {
  const postgres = await startPostgres()
  if (!postgres) missing('PostgreSQL')
  project.provide('postgresUrl', postgres?.url)
  return async () => {
    await postgres?.stop()
  }
}

function missing(what: string) {
  if (process.env.SHOAL_TEST_EVERYTHING) {
    throw new Error(`${what} is not installed, and SHOAL_TEST_EVERYTHING allows no skips`)
  }
  process.stderr.write(`${what} is not installed: the tests that need it are skipped\n`)
}
