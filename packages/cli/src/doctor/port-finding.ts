import { findPortHolder, holderName } from '../daemon/port-holder.ts'
import type { Finding } from './finding.ts'

type Use = {
  /** In a sentence, as `a registry`. */
  name: string
  /** What may hold the port; the user's own daemon has been ruled out. */
  expected?: 'registry'
  /** What else can be done where somebody else has it. */
  advice?: string
}

/** Whether a port is free for what usually takes it. */
export async function portFinding(
  number: number,
  { name, expected, advice = '' }: Use,
): Promise<Finding> {
  const check = `port-${number}`
  const holder = await findPortHolder(number)
  if (holder === undefined) {
    return { check, state: 'ok', text: `Port ${number} is free for ${name}` }
  }
  if (holder === expected) return { check, state: 'ok', text: `Port ${number} is served by shoal` }
  return {
    check,
    state: 'warning',
    text: `Port ${number} is taken by ${holderName[holder]}`,
    advice: `Stop it, or give ${name} another port with --port.${advice}`,
  }
}
