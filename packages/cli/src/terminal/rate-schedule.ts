/** Speed limits that depend on the time of day. */
import { misuse } from './failure.ts'
import { parseByteRate } from './units.ts'

/** A limit that depends on the time. */
export type RateSchedule = {
  /** Bytes per second at a time, in the time zone of this machine; undefined for no limit. */
  at(time: Date): number | undefined
}

type Period = { bytesPerSecond: number | undefined; from: number; to: number }

const minutesPerDay = 24 * 60
/** The hours at the end of a part. */
const hours = /\s+(\d\S*-\d\S*)$/

/**
 * Parses a speed such as `10MB`, or a schedule: `2MB 8:00-18:00, 10MB 18:00-22:00, 50MB`. A part without hours applies
 * at all other times, and `off` means no limit.
 */
export function parseRates(text: string): number | RateSchedule {
  const parts = text.split(',').map((part) => part.trim())
  if (!parts.some((part) => hours.test(part))) return parseByteRate(text)
  const periods = parts.map(parsePeriod)
  const inOrder = periods.toSorted((a, b) => Number(isAllDay(a)) - Number(isAllDay(b)))
  return {
    at(time) {
      const minute = time.getHours() * 60 + time.getMinutes()
      return inOrder.find((period) => contains(period, minute))?.bytesPerSecond
    },
  }
}

function parsePeriod(part: string): Period {
  const [, period] = hours.exec(part) ?? []
  const speed = part.replace(hours, '')
  const bytesPerSecond = speed === 'off' ? undefined : parseByteRate(speed)
  if (period === undefined) return { bytesPerSecond, from: 0, to: minutesPerDay }
  const [from, to] = period.split('-').map(parseTime)
  if (from !== undefined && to !== undefined && from !== to) return { bytesPerSecond, from, to }
  throw misuse(`“${period}” is not a valid period. Example: 2MB 8:00-18:00, 10MB.`)
}

/** Parses `8`, `8:00` or `24:00` into minutes since midnight. */
function parseTime(text: string): number | undefined {
  const [, hour, minute = '0'] = /^(\d{1,2})(?::(\d\d))?$/.exec(text) ?? []
  const minutes = Number(hour) * 60 + Number(minute)
  return Number(minute) < 60 && minutes <= minutesPerDay ? minutes : undefined
}

const isAllDay = ({ from, to }: Period) => from === 0 && to === minutesPerDay

/** A period may include midnight. */
const contains = ({ from, to }: Period, minute: number) =>
  from < to ? minute >= from && minute < to : minute >= from || minute < to
