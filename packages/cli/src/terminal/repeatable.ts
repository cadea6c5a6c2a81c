import { Option } from 'commander'

/** An option that may be given again and again. Commander's own lists would swallow the arguments behind them. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value, former: string[] = []) => [
    ...former,
    value,
  ])
}
