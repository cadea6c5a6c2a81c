import { note } from './report.ts'

/** Runs the variants in turn (A B A B), so that other load on the machine affects all of them equally. */
export async function inTurns<Result>(
  rounds: number,
  variants: Record<string, () => Promise<Result>>,
): Promise<Record<string, Result[]>> {
  const results: Record<string, Result[]> = {}
  for (let round = 1; round <= rounds; round += 1) {
    for (const [name, run] of Object.entries(variants)) {
      note(`round ${round} of ${rounds}: ${name}`)
      results[name] = [...(results[name] ?? []), await run()]
    }
  }
  return results
}
