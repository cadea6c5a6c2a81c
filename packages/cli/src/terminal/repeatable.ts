import { Option } from 'commander'

/**
 * Creates an option that can be repeated. Commander's variadic options would also consume the positional arguments
 * that follow the option.
 */
export const repeatable = (flags: string, description: string): Option =>
  repeated(new Option(flags, description))

export const repeated = (option: Option): Option =>
  option.argParser((value, former: string[] = []) => [...former, value])
