/**
 * `npm run agents [-- NAME…] [--scenario NAME] [--keep] [--installed FOLDER]`: installs coding agents in a temporary folder, and runs each of
 * them with a scripted model through each scenario. Exits with 1 if an agent does not finish its task.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { allAgents } from './all-agents.ts'
import { installAgents } from './install-agents.ts'
import { runScenario } from './run-scenario.ts'
import { scenarios } from './scripted-model.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scenario: { type: 'string' },
    keep: { type: 'boolean', default: false },
    /** The folder of an earlier run with `--keep`. */
    installed: { type: 'string' },
  },
})
const agents = allAgents.filter(
  ({ name }) => positionals.length === 0 || positionals.includes(name),
)
const chosen = scenarios.filter((name) => values.scenario === undefined || values.scenario === name)
if (agents.length === 0 || chosen.length === 0) {
  const names = allAgents.map(({ name }) => name)
  console.error(`agents: ${names.join(', ')}; scenarios: ${scenarios.join(', ')}`)
  process.exit(2)
}

const root = await mkdtemp(join(tmpdir(), 'shoal-agents-'))
const installed = values.installed ?? join(root, 'installed')
if (values.installed === undefined) {
  await mkdir(installed)
  await installAgents(agents, installed)
}
for (const agent of agents) {
  for (const scenario of chosen) {
    const reason = agent.cannot?.[scenario]
    if (reason !== undefined) {
      console.log(`${agent.package} ${scenario}: skipped: ${reason}`)
      continue
    }
    const folder = join(root, `${agent.name}-${scenario}`)
    const outcome = await runScenario(agent, scenario, { installed, folder }).then(
      () => 'finished',
      (error: Error) => `failed: ${error.message}`,
    )
    if (outcome !== 'finished') process.exitCode = 1
    console.log(`${agent.package} ${scenario}: ${outcome}`)
  }
}
if (values.keep) console.log(root)
else await rm(root, { recursive: true, force: true })
