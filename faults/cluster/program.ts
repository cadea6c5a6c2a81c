/** Breaks the parts of a registry with several nodes: `npm run faults -- cluster [name] [options]`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findMissing } from '../../cluster/up.ts'
import { anySeed, misuse, wholeNumber } from '../arguments.ts'
import { clusterFaults } from './cluster-faults.ts'
import { openFaultyCluster } from './faulty-cluster.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Runs the faults on one cluster, and returns the exit code: 0 if nothing failed. */
export async function runCluster(words: string[]): Promise<number> {
  const { name, seed, isHelp } = readArguments(words)
  if (isHelp) {
    say('npm run faults -- cluster [name] [--seed N]    (default: all faults)\n')
    for (const fault of clusterFaults) say(`${fault.name.padEnd(20)}${fault.summary}`)
    return 0
  }
  const chosen = clusterFaults.filter((fault) => name === undefined || fault.name === name)
  if (chosen.length === 0) misuse(`unknown fault "${name}": --list shows all names`)
  const missing = findMissing(new Set())
  if (missing.length > 0) {
    say(`cluster: skipped, missing on this machine: ${missing.join(', ')}`)
    return 0
  }
  const logFolder = mkdtempSync(join(tmpdir(), 'shoal-cluster-logs-'))
  let failed = 0
  await using cluster = await openFaultyCluster({ seed, timeoutFactor: 1, logFolder })
  for (const fault of chosen) {
    const { failures, recoveryMs } = await cluster.run(fault)
    const verdict = failures.length === 0 ? 'ok' : `failures: ${failures.length}`
    const recovery = Number.isNaN(recoveryMs)
      ? 'recovery not measured'
      : `ready again after ${recoveryMs.toFixed(0)} ms`
    say(`${fault.name.padEnd(20)}${verdict}, ${recovery}`)
    for (const { kind, expected, seen, times } of failures) {
      say(`  ${kind}${times > 1 ? ` (${times} times)` : ''}`)
      say(`    expected: ${expected}`)
      say(`    seen:     ${seen}`)
    }
    failed += failures.length
  }
  say(`cluster: seed ${seed}, faults: ${chosen.length}, failures: ${failed}`)
  if (failed === 0) rmSync(logFolder, { recursive: true })
  else say(`logs: ${logFolder}`)
  return failed === 0 ? 0 : 1
}

function readArguments(words: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: words,
      allowPositionals: true,
      options: {
        seed: { type: 'string', default: anySeed() },
        help: { type: 'boolean', short: 'h', default: false },
        list: { type: 'boolean', default: false },
      },
    })
    if (positionals.length > 1) misuse(`expected one fault, not ${positionals.join(', ')}`)
    return {
      name: positionals[0],
      seed: wholeNumber('--seed', values.seed),
      isHelp: values.help || values.list,
    }
  } catch (error) {
    return misuse(String(error instanceof Error ? error.message : error))
  }
}
