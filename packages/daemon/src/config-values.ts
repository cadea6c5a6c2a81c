/** Values of settings out of what was typed. Each throws a `ConfigError` that names the setting. */
import { parseKeepAlive, parseSize } from '@shoal/core/units'
import { ConfigError } from './errors.ts'

type Range = { least: number; most: number }

export function wholeNumberOf(name: string, text: string, { least, most }: Range): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  throw new ConfigError(`${name} is a number from ${least} to ${most}, not "${text}"`)
}

/** Bytes, at least one. */
export function bytesOf(name: string, text: string): number {
  const bytes = parseSize(text) ?? 0
  if (bytes >= 1) return bytes
  throw new ConfigError(`${name} is a size such as 12GB, not "${text}"`)
}

/** Milliseconds that an idle model stays; -1 forever. */
export function keepAliveOf(name: string, text: string): number {
  const ms = parseKeepAlive(text)
  if (ms === undefined) {
    throw new ConfigError(`${name} is a time such as 5m, 2h or forever, not "${text}"`)
  }
  return Number.isFinite(ms) ? ms : -1
}
