/** Runs one of the agents, with the packages that an earlier run has installed. `npm run agents` runs all of them. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, test } from 'vitest'
import { cachedBuild, hashFiles } from '../testing/build-cache.ts'
import { removeDirectorySync } from '../testing/remove-directory.ts'
import { runsSlowTests } from '../testing/slow.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import type { Agent } from './agent.ts'
import { allAgents } from './all-agents.ts'
import { installAgents } from './install-agents.ts'
import { runScenario } from './run-scenario.ts'
import { scenarios } from './scripted-model.ts'

const agent = allAgents.find(({ name }) => name === 'qwen') as Agent

describe.runIf(runsSlowTests)(agent.package, () => {
  let root: string
  const installed = () => join(root, 'installed')
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'shoal-test-'))
    const key = hashFiles(import.meta.dirname, ['install-agents.ts'], [agent.package])
    const build = (folder: string) => installAgents([agent], folder)
    await cachedBuild({ name: 'agents', key, build }, installed())
    return () => removeDirectorySync(root)
  })

  test.each(scenarios.filter((name) => agent.cannot?.[name] === undefined))(
    'finishes its task in the scenario %s',
    (scenario) =>
      runScenario(agent, scenario, { installed: installed(), folder: temporaryFolder() }),
  )
})
