import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Agent } from './agent.ts'

/** Installs the packages of these agents in an empty folder. */
export async function installAgents(agents: readonly Agent[], folder: string) {
  const packages = agents.map((agent) => agent.package)
  const options = ['--prefix', folder, '--no-audit', '--no-fund', '--loglevel', 'error']
  await promisify(execFile)('npm', ['install', ...options, ...packages])
}
