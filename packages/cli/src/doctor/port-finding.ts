import { findPortHolder, holderName } from '../daemon/port-holder.ts'
import type { Finding } from './finding.ts'

type Use = {
  /** What the port is for, as it appears in a sentence: `a registry`. */
  name: string
  /** The program that is expected to use the port, if any. */
  expected?: 'registry'
  /** Additional advice if another program uses the port. */
  advice?: string
}

/** Checks whether a default port is free. */
export async function portFinding(
  number: number,
  { name, expected, advice = '' }: Use,
): Promise<Finding> {
  const check = `port-${number}`
  const holder = await findPortHolder(number)
  if (holder === undefined) {
    return { check, state: 'ok', text: `Port ${number} is free for ${name}` }
  }
  if (holder === expected) return { check, state: 'ok', text: `Port ${number} is in use by shoal` }
  return {
    check,
    state: 'warning',
    text: `Port ${number} is in use by ${holderName[holder]}`,
    advice: `Stop that program, or start ${name} on another port with --port.${advice}`,
  }
}
