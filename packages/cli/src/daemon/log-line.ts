const levelNames: Record<number, string> = { 40: 'warning', 50: 'error', 60: 'error' }
/** Fields that are shown elsewhere in the line or are not useful to readers. */
const silent = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'reqId', 'err', 'v'])

type Entry = Record<string, unknown> & { time: number; msg?: string; level?: number }

/** Formats a log line for people: `2026-01-31 12:00:01 request  POST  /v1/chat/completions  200  12.3 ms`. */
export function readableLine(line: string): string {
  const entry = parseEntry(line)
  if (!entry) return line
  const { time, msg = '', level = 30 } = entry
  const facts = Object.entries(entry).flatMap(([name, value]) =>
    silent.has(name) || typeof value === 'object' ? [] : [formatFact(name, value)],
  )
  const levelName = levelNames[level]
  const words = [
    formatTime(time),
    ...(levelName ? [`${levelName}:`] : []),
    [msg, ...facts].join('  '),
    ...(getErrorMessage(entry) ? [`(${getErrorMessage(entry)})`] : []),
  ]
  return words.join(' ')
}

function parseEntry(line: string): Entry | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const value = JSON.parse(line) as Entry
    return typeof value.time === 'number' ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const bare = new Set(['method', 'path', 'status', 'model', 'reason'])

function formatFact(name: string, value: unknown): string {
  if (name === 'ms') return `${value} ms`
  return bare.has(name) ? String(value) : `${name}=${value}`
}

function getErrorMessage({ err }: Record<string, unknown>): string | undefined {
  const { message } = (err ?? {}) as { message?: unknown }
  return typeof message === 'string' ? message : undefined
}

/** Formats a time in local time, without a time zone, to keep lines short. */
function formatTime(time: number): string {
  const date = new Date(time)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}
