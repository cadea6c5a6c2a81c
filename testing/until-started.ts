import { once } from 'node:events'
import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const pauseMs = 50

type Options = {
  /** Whether the process is still running. If it is not, it has not started, whatever the check says. */
  isRunning?: () => boolean
  timeoutMs?: number
}

/** Repeats a check until it resolves, for programs that cannot report that they are ready. */
export async function untilStarted(
  what: string,
  check: () => Promise<unknown>,
  { isRunning = () => true, timeoutMs = 60_000 }: Options = {},
) {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      await check()
      if (isRunning()) return
      throw new Error('another program responds')
    } catch (error) {
      if (!isRunning()) throw new Error(`${what} exited`, { cause: error })
      if (Date.now() > deadline) throw new Error(`${what} did not start`, { cause: error })
      await sleep(pauseMs)
    }
  }
}

/** Rejects unless something accepts connections on this port. */
export async function accepts(port: number) {
  const socket = createConnection(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
  } finally {
    socket.destroy()
  }
}
