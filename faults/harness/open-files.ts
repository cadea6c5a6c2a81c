/** Lists the files and connections that a process has open, from `/proc`. */
import { readdirSync, readlinkSync } from 'node:fs'

export type OpenFiles = {
  /** The sorted paths of open files in the data folder. */
  data: string[]
  sockets: number
  /** Everything else: pipes, devices, timers and so on. */
  others: string[]
}

export function listOpenFiles(pid: number, dataDirectory: string): OpenFiles {
  const targets = readdirSync(`/proc/${pid}/fd`).map((number) => readTarget(pid, number))
  const found: OpenFiles = { data: [], sockets: 0, others: [] }
  for (const target of targets) {
    if (target === undefined) continue
    if (target.startsWith('socket:')) found.sockets += 1
    else if (target.startsWith(`${dataDirectory}/`)) {
      found.data.push(target.slice(dataDirectory.length + 1))
    } else found.others.push(target.replace(/:\[\d+\]|_\d+$/, ''))
  }
  found.data.sort()
  found.others.sort()
  return found
}

function readTarget(pid: number, number: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${number}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined // closed in the meantime
    throw error
  }
}

/**
 * Describes the files and sockets that are open now but were not open before; undefined if there are none. The database
 * pool may open up to `morePoolSockets` more sockets.
 */
export function addedTo(
  before: OpenFiles,
  now: OpenFiles,
  morePoolSockets: number,
): string | undefined {
  const added = [...without(now.data, before.data), ...without(now.others, before.others)]
  const sockets = now.sockets - before.sockets
  if (sockets > morePoolSockets) added.push(`${sockets} sockets`)
  return added.length > 0 ? added.join(', ') : undefined
}

function without(all: string[], known: string[]): string[] {
  const left = [...known]
  return all.filter((one) => {
    const at = left.indexOf(one)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
