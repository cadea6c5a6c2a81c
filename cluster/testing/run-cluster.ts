/** Runs `scripts/cluster` as users do. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

export const clusterProgram = join(import.meta.dirname, '../../scripts/cluster')

/**
 * Returns a path for a cluster's folder. If a cluster is created there, it is stopped when the test finishes, or
 * later with Vitest's `afterAll`.
 */
export function makeClusterDirectory(
  onFinished: (stop: () => Promise<void>) => void = onTestFinished,
): string {
  const directory = join(tmpdir(), `shoal-cluster-${randomUUID()}`)
  onFinished(async () => {
    if (existsSync(directory)) await runCluster(directory, ['down'])
  })
  return directory
}

/** Runs a command, with `settings` in its environment. Resolves to its output without the newline at the end. */
export async function runCluster(
  directory: string,
  words: string[],
  settings: Record<string, string> = {},
): Promise<{ stdout: string; stderr: string }> {
  const env = { ...process.env, SHOAL_CLUSTER_DIR: directory, ...settings }
  const { stdout, stderr } = await promisify(execFile)(clusterProgram, words, { env })
  return { stdout: stdout.trim(), stderr: stderr.trim() }
}
