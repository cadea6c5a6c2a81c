import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../../testing/programs.ts'
import { cleanupStack } from '../harness/cleanup.ts'
import { TimeoutError } from '../harness/waiting.ts'
import { type NetworkRound, RoundFailure, type Scene } from './round.ts'

export type RoundResult = {
  round: NetworkRound
  seed: number
  seconds: number
  seen: string
  failure: string | undefined
}

type Options = Pick<Scene, 'seed' | 'timeoutFactor' | 'logFolder'>

/**
 * Runs a round. If the program that it needs is not installed, the round is skipped, and `seen` contains the reason.
 */
export async function runRound(round: NetworkRound, options: Options): Promise<RoundResult> {
  const startedAt = performance.now()
  const result = (seen: string, failure?: string): RoundResult => {
    const seconds = (performance.now() - startedAt) / 1000
    return { round, seed: options.seed, seconds, seen, failure }
  }
  if (!canRun(round)) return result(`skipped: ${round.needs} is not installed`)
  using cleanup = cleanupStack()
  const folder = mkdtempSync(join(tmpdir(), 'shoal-network-'))
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
  const logFolder = join(options.logFolder, round.name)
  try {
    return result(await round.run({ ...options, folder, logFolder, cleanup }))
  } catch (error) {
    if (error instanceof RoundFailure || error instanceof TimeoutError)
      return result('', error.message)
    return result('', String(error instanceof Error ? error.stack : error))
  }
}

export const canRun = ({ needs }: NetworkRound) =>
  needs === undefined || findProgram(needs) !== undefined
