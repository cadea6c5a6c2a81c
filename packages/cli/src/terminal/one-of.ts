import { Option } from 'commander'
import { misuse } from './failure.ts'

/** An option that takes one of a few values. Refused with a sentence of ours: commander's speaks of its own terms. */
export function oneOf(flags: string, description: string, values: readonly string[]): Option {
  const option = new Option(flags, description).choices(values)
  return option.argParser((text) => {
    if (values.includes(text)) return text
    throw misuse(`${option.long} cannot be “${text}”.`, `It takes ${values.join(', ')}.`)
  })
}
