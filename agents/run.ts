/**
 * Installs coding agents in a temporary folder, and runs each of them with a scripted model through each scenario. Exits
 * with 1 if an agent does not finish its task.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { misuse, parseToolArguments } from '../testing/tool-arguments.ts'
import { allAgents } from './all-agents.ts'
import { installAgents } from './install-agents.ts'
import { runScenario } from './run-scenario.ts'
import { scenarios } from './scripted-model.ts'

const names = allAgents.map(({ name }) => name)
const help = `npm run agents [-- NAME…] [options]

Runs coding agents with a scripted model. Agents: ${names.join(', ')} (default: all).

options:
  --scenario NAME     only this scenario: ${scenarios.join(', ')}
  --keep              keep the temporary folder, and print its path
  --installed FOLDER  use the agents that an earlier run with --keep has installed`

const { values, positionals } = parseToolArguments(help, {
  allowPositionals: true,
  options: {
    scenario: { type: 'string' },
    keep: { type: 'boolean', default: false },
    installed: { type: 'string' },
  },
})
const agents = allAgents.filter(
  ({ name }) => positionals.length === 0 || positionals.includes(name),
)
const chosen = scenarios.filter((name) => values.scenario === undefined || values.scenario === name)
if (agents.length === 0 || chosen.length === 0) {
  misuse(`agents: ${names.join(', ')}; scenarios: ${scenarios.join(', ')}`)
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
