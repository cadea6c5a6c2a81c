import { Option } from 'commander'
import { misuse } from './failure.ts'

/** Creates an option that accepts only `values`. Its error is worded for users; commander's error is for developers. */
export function oneOf(flags: string, description: string, values: readonly string[]): Option {
  const option = new Option(flags, description).choices(values)
  return option.argParser((text) => {
    if (values.includes(text)) return text
    throw misuse(
      `“${text}” is not valid for ${option.long}.`,
      `Valid values: ${values.join(', ')}.`,
    )
  })
}
