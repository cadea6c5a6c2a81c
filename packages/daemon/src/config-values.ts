/** Values of settings out of what was typed. Each throws a `ConfigError` that names the setting. */
import { ConfigError, Fault } from './errors.ts'
import { keepAliveMsOf } from './ollama/keep-alive.ts'

type Range = { least: number; most: number }

export function wholeNumberOf(name: string, text: string, { least, most }: Range): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  throw new ConfigError(`${name} is a number from ${least} to ${most}, not "${text}"`)
}

const bytesOfUnit = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 }

/** Powers of ten, as `12GB` and `1.5 gb`. */
export function bytesOf(name: string, text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?) ?([kmgt]?)b?$/i.exec(text.trim()) ?? []
  const bytes = Math.floor(
    Number(number) * bytesOfUnit[unit.toLowerCase() as keyof typeof bytesOfUnit],
  )
  if (bytes >= 1) return bytes
  throw new ConfigError(`${name} is a size such as 12GB, not "${text}"`)
}

/** Milliseconds out of what Ollama takes for it, such as `5m`, `1h30m` or seconds; -1 for `forever` and what is negative. */
export function durationOf(name: string, text: string): number {
  if (text === 'forever') return -1
  try {
    return keepAliveMsOf(text.trim()) ?? 0
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new ConfigError(`${name} is a time such as 5m, 2h or forever, not "${text}"`)
  }
}
