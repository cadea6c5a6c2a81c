import type { CallFormat } from './answer-format.ts'
import { probe } from './probe.ts'

/** Matches the arguments of the probe, if they are JSON. */
const probeArguments = new RegExp(`\\{\\s*"${probe.textKey}"[^}]*\\}`)

/**
 * Writes a call in the format of the example or, if the example's arguments are not JSON, in the format of a forced
 * call.
 */
export function writeCall(
  { example, opening, closes, argumentsKey }: CallFormat,
  name: string,
  args: string,
): string {
  const [before = '', after] = example.trimStart().split(probeArguments)
  if (after === undefined) {
    return `${opening}{"name": ${JSON.stringify(name)}, "${argumentsKey}": ${args}}${closes.join('')}`
  }
  const last = closes.at(-1) ?? ''
  const end = after.slice(0, after.lastIndexOf(last) + last.length)
  return before.replaceAll(probe.name, name) + args + end
}
