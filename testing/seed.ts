import { spawnSync } from 'node:child_process'

/**
 * The seed of the tests that test a different part of a large whole in each commit: `SHOAL_TEST_SEED`, a whole number
 * from 1 to 999999999, or a number derived from the commit that is checked out. Without git or a clone, the seed is 1.
 * @throws if `SHOAL_TEST_SEED` is not such a number
 */
export function readTestSeed(root: string, env: NodeJS.ProcessEnv): number {
  const given = env.SHOAL_TEST_SEED
  if (given) {
    if (/^[1-9]\d{0,8}$/.test(given)) return Number(given)
    throw new Error(`SHOAL_TEST_SEED must be a whole number from 1 to 999999999, not "${given}"`)
  }
  const { status, stdout } = spawnSync('git', ['-C', root, 'rev-parse', 'HEAD'], {
    encoding: 'utf8',
  })
  return status === 0 ? 1 + Number.parseInt(stdout.slice(0, 7), 16) : 1
}
