import { Option } from 'commander'

/** An option that may be given again and again. Commander's own lists would swallow the arguments behind them. */
export const repeatable = (flags: string, description: string): Option =>
  repeated(new Option(flags, description))

export const repeated = (option: Option): Option =>
  option.argParser((value, former: string[] = []) => [...former, value])
