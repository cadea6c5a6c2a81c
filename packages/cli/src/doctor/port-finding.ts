import type { Finding } from './finding.ts'
import { findPortHolder } from './port-holder.ts'

/** Whether a port is free for what usually takes it. */
export async function portFinding(number: number, use: string): Promise<Finding> {
  const check = `port-${number}`
  const holder = await findPortHolder(number)
  if (holder === undefined) return { check, state: 'ok', text: `Port ${number} is free for ${use}` }
  if (holder === 'shoal') return { check, state: 'ok', text: `Port ${number} is served by shoal` }
  return {
    check,
    state: 'warning',
    text: `Port ${number} is taken by ${holder}`,
    advice: `Stop it, or give ${use} another port with --port.`,
  }
}
