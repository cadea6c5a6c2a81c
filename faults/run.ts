/** Breaks a registry's environment and checks that no data is lost: `npm run faults -- [name] [options]`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { faults } from './all-faults.ts'
import { anySeed, misuse, wholeNumber } from './arguments.ts'
import { startDatabaseServer } from './harness/database-server.ts'
import { findMissing } from './needs.ts'
import { type RoundResult, runFault } from './run-fault.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)

process.setMaxListeners(0)
// `process.exit` runs the `exit` handlers, which end child processes, unmount disks and delete temporary folders.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => process.exit(130))
}
if (process.argv[2] === 'network') {
  const { runNetwork } = await import('./network/program.ts')
  process.exit(await runNetwork(process.argv.slice(3)))
}
if (process.argv[2] === 'cluster') {
  const { runCluster } = await import('./cluster/program.ts')
  process.exit(await runCluster(process.argv.slice(3)))
}

const { name, rounds, seed, isHelp } = readArguments()
if (isHelp) {
  say('npm run faults -- [name] [--rounds 1] [--seed N]    (default: all faults)\n')
  for (const fault of faults) say(`${fault.name.padEnd(28)}${fault.summary}`)
  say(`${'network'.padEnd(28)}Network faults; network --list shows their names and options.`)
  say(
    `${'cluster'.padEnd(28)}Faults of a registry with several nodes; cluster --list shows their names.`,
  )
  process.exit(0)
}
const chosen = faults.filter((fault) => name === undefined || fault.name === name)
if (chosen.length === 0) {
  misuse(
    `unknown fault "${name}"; expected one of: ${faults.map((fault) => fault.name).join(', ')}`,
  )
}

const missing = findMissing()
const logFolder = mkdtempSync(join(tmpdir(), 'shoal-faults-logs-'))
const results: RoundResult[] = []
const failures = () => results.flatMap((result) => result.failures)
process.once('exit', () => {
  if (failures().length === 0) rmSync(logFolder, { recursive: true, force: true })
})
{
  await using databases = missing.has('PostgreSQL') ? undefined : await startDatabaseServer()
  for (const fault of chosen) {
    const lacking = fault.needs.filter((need) => missing.has(need))
    if (lacking.length > 0) {
      say(`${fault.name}: skipped, missing on this machine: ${lacking.join(', ')}`)
      continue
    }
    const options = { rounds, seed, timeoutFactor: 1, databases, logFolder, onRound }
    await runFault(fault, options)
  }
}
const countFailures = (kind: string) => failures().filter((failure) => failure.kind === kind).length
say(
  `faults: ${results.length} ${results.length === 1 ? 'round' : 'rounds'}, ${countFailures('lost')} lost, ${countFailures('wrong')} wrong, ${countFailures('stuck')} stuck`,
)
process.exitCode = failures().length === 0 ? 0 : 1

function onRound(result: RoundResult) {
  results.push(result)
  report(result)
}

/** Prints one line for a round, and three lines for each of its failures. */
function report({ fault, round, seed: itsSeed, engine, seconds, ...result }: RoundResult) {
  const { length } = result.failures
  const verdict = length === 0 ? 'ok' : `${length} ${length === 1 ? 'failure' : 'failures'}`
  const place = `round ${round}, seed ${itsSeed}`
  say(`${fault.padEnd(28)}${place}, ${engine}, ${seconds.toFixed(1)} s: ${verdict}`)
  for (const { kind, expected, seen, times } of result.failures) {
    say(`  ${kind}: ${fault}, ${place}${times > 1 ? ` (${times} times)` : ''}`)
    say(`    expected: ${expected}`)
    say(`    seen:     ${seen}`)
  }
  if (result.logFolder) say(`  logs: ${result.logFolder}`)
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: 'string', default: '1' },
        seed: { type: 'string', default: anySeed() },
        help: { type: 'boolean', short: 'h', default: false },
        list: { type: 'boolean', default: false },
      },
    })
    if (positionals.length > 1) misuse(`expected one fault, not ${positionals.join(', ')}`)
    return {
      name: positionals[0],
      rounds: wholeNumber('--rounds', values.rounds),
      seed: wholeNumber('--seed', values.seed),
      isHelp: values.help || values.list,
    }
  } catch (error) {
    return misuse(String(error instanceof Error ? error.message : error))
  }
}
