import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { findStranger } from '../daemon/find-daemon.ts'
import {
  askNotedDaemon,
  type DaemonState,
  forgetDaemonState,
  isProcessThere,
  readDaemonState,
} from '../daemon/state-file.ts'
import { describeStranger } from '../daemon/stranger.ts'
import { Failure } from '../terminal/failure.ts'
import { whileWaiting } from '../terminal/waiting.ts'

/** The daemon waits up to 30 s for responses in progress, and up to 5 s for models to free their memory. */
const timeoutMs = 60_000
const pollIntervalMs = 50
/** Longer than the 500 ms within which a second signal counts as the same Ctrl-C (see `main.ts`). */
const signalIntervalMs = 800
/** How long `--now` waits for a clean exit before it sends SIGKILL. */
const urgentTimeoutMs = 5_000

export function stopCommand(open: OpenContext): Command {
  return new Command('stop')
    .description('stop the daemon and wait until it has exited')
    .option('--now', 'do not wait for responses in progress')
    .action(async ({ now }: { now?: boolean }) => {
      const context = await open()
      const { printer, places } = context
      const noted = await askNotedDaemon(places)
      if (noted?.answerer === 'silence') throw notAnswering(noted.state.pid)
      if (noted?.answerer !== 'daemon') {
        if (!noted) await forgetEndedDaemon(context)
        printer.note('Your daemon is not running.')
        await noteStranger(context)
        return await printer.answer({ stopped: false, pid: null }, () => [])
      }
      const running = noted.state
      const { pid, command } = running
      if (command === 'up') await askForBoth(context, running)
      process.kill(pid, 'SIGTERM')
      const task = now === true ? 'Stopping the daemon' : 'Waiting for responses in progress'
      await whileWaiting(printer, task, () => untilGone(pid, now === true))
      await forgetDaemonState(places, pid)
      printer.success(`The daemon at ${running.url} has stopped.`)
      await printer.answer({ stopped: true, pid }, () => [])
    })
}

async function forgetEndedDaemon({ places }: Context) {
  const left = await readDaemonState(places)
  if (left) await forgetDaemonState(places, left.pid)
}

/**
 * The failure for a daemon that does not respond. Its process is not killed, because the process has not proved that it
 * is the user's daemon.
 */
function notAnswering(pid: number): Failure {
  return new Failure('failed', `The daemon (process ${pid}) does not respond.`, {
    hint: `Try again in a moment. If the daemon still does not respond, kill its process: kill -9 ${pid}`,
    details: { pid },
  })
}

/** Reports a program that listens on the default port but is not the user's daemon. */
async function noteStranger(context: Context) {
  const stranger = await findStranger(context)
  if (stranger) context.printer.note(`  ${describeStranger(stranger).text} It was not stopped.`)
}

function askForBoth({ asker }: Context, { pid }: DaemonState) {
  return asker.confirm(
    `The daemon and the registry both run in shoal up (process ${pid}). Stop both?`,
  )
}

async function untilGone(pid: number, isUrgent: boolean) {
  const startedAt = performance.now()
  const signals = isUrgent ? urgentSignals() : []
  while (await isProcessThere(pid)) {
    const waited = performance.now() - startedAt
    const [next] = signals
    if (next && waited > next.afterMs) {
      signals.shift()
      process.kill(pid, next.signal)
    }
    if (waited > timeoutMs) throw stillThere(pid, isUrgent)
    await sleep(pollIntervalMs)
  }
}

/** The signals that follow the first SIGTERM, and when they are sent. */
const urgentSignals = (): { signal: NodeJS.Signals; afterMs: number }[] => [
  { signal: 'SIGTERM', afterMs: signalIntervalMs },
  { signal: 'SIGKILL', afterMs: urgentTimeoutMs },
]

function stillThere(pid: number, isUrgent: boolean): Failure {
  return new Failure('failed', `Process ${pid} is still running.`, {
    hint: isUrgent
      ? 'SIGKILL was sent. The process is probably waiting for a disk or another device, and will exit when the device responds.'
      : 'To stop it without waiting for responses in progress: shoal stop --now',
    details: { pid },
  })
}
