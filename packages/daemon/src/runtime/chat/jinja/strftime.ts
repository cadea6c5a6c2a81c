/**
 * Formats a local time as Python's `strftime` does, with English names. Supports the conversions that templates use.
 */
export function formatTime(time: Date, format: string): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const hour12 = time.getHours() % 12 || 12
  const conversions: Record<string, () => string> = {
    a: () => (days[time.getDay()] ?? '').slice(0, 3),
    A: () => days[time.getDay()] ?? '',
    b: () => (months[time.getMonth()] ?? '').slice(0, 3),
    B: () => months[time.getMonth()] ?? '',
    d: () => two(time.getDate()),
    e: () => String(time.getDate()).padStart(2, ' '),
    H: () => two(time.getHours()),
    I: () => two(hour12),
    j: () => String(dayOfYear(time)).padStart(3, '0'),
    m: () => two(time.getMonth() + 1),
    M: () => two(time.getMinutes()),
    p: () => (time.getHours() < 12 ? 'AM' : 'PM'),
    S: () => two(time.getSeconds()),
    y: () => two(time.getFullYear() % 100),
    Y: () => String(time.getFullYear()),
    F: () => formatTime(time, '%Y-%m-%d'),
    T: () => formatTime(time, '%H:%M:%S'),
    '%': () => '%',
  }
  return format.replace(/%(-?)([a-zA-Z%])/g, (match, unpadded: string, name: string) => {
    const converted = conversions[name]?.()
    if (converted === undefined) return match
    return unpadded === '' ? converted : converted.replace(/^[0 ](?=.)/, '')
  })
}

function dayOfYear(time: Date): number {
  const midnight = (year: number, month: number, day: number) => Date.UTC(year, month, day)
  const year = time.getFullYear()
  return (midnight(year, time.getMonth(), time.getDate()) - midnight(year, 0, 0)) / 86_400_000
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
]
