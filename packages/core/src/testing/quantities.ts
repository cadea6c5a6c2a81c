/** Quantities that every setting, flag and field must accept or reject. */
import { randomFrom } from './random.ts'

export type SizeExample = { text: string; bytes: number }

const sizeUnits: [unit: string, bytes: number][] = [
  ['B', 1],
  ['kB', 1e3],
  ['K', 1e3],
  ['MB', 1e6],
  ['m', 1e6],
  ['GB', 1e9],
  ['G', 1e9],
  ['gb', 1e9],
  ['TB', 1e12],
  ['t', 1e12],
]

/** Sizes with a unit, of at least one byte, in every accepted notation. */
export function sizeExamples(): SizeExample[] {
  const random = randomFrom(1)
  return Array.from({ length: 300 }, () => {
    const [unit, bytesPerUnit] = random.oneOf(sizeUnits)
    const whole = random.between(1, 999)
    const fraction = bytesPerUnit > 1 ? random.oneOf(['', '.5', '.25', '.0', '.']) : ''
    const space = () => random.oneOf(['', ' '])
    return {
      text: space() + whole + fraction + space() + unit + space(),
      bytes: Number(whole + fraction) * bytesPerUnit,
    }
  })
}

/** Strings that are never valid sizes. */
export const notSizes = ['much', '5 X', '1,5GB', '-1GB', '12GBs', 'GB', '5GiB', '0x10', '1 2GB']

export type DurationExample = { text: string; ms: number }

const durationUnits: [unit: string, ms: number][] = [
  ['ms', 1],
  ['s', 1e3],
  ['sec', 1e3],
  ['m', 60e3],
  ['min', 60e3],
  ['h', 3_600e3],
  ['d', 86_400e3],
  ['w', 604_800e3],
  ['y', 31_536_000e3],
]

/** Durations with a unit, in every accepted notation. Each is a whole number of seconds, up to 20 years. */
export function durationExamples(): DurationExample[] {
  const random = randomFrom(2)
  return Array.from({ length: 300 }, () => {
    const parts = Array.from({ length: random.between(1, 3) }, () => {
      const [unit, msPerUnit] = random.oneOf(durationUnits)
      const count = random.between(1, 6) * (unit === 'ms' ? 1_000 : 1)
      const fraction = msPerUnit >= 60e3 ? random.oneOf(['', '.5', '.25', '.0', '.']) : ''
      return { text: `${count}${fraction}${unit}`, ms: Number(`${count}${fraction}`) * msPerUnit }
    })
    const space = () => random.oneOf(['', ' '])
    return {
      text: space() + parts.map(({ text }) => text).join('') + space(),
      ms: parts.reduce((sum, { ms }) => sum + ms, 0),
    }
  })
}

/** Infinite durations. */
export const endless = ['never', 'forever', ' never ', '101y', '9'.repeat(400).concat('h')]

/** Strings that are never valid durations. */
export const notDurations = [
  'soon',
  '5 m',
  '5x',
  'm',
  '1h-30m',
  '5m30',
  '5M',
  '1h 30m',
  '-',
  '0x10s',
]
