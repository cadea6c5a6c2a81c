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

/** Answers that run get half a minute, and models five seconds to free their memory. */
const timeoutMs = 60_000
const pollIntervalMs = 50
/** Two signals that follow on each other's heels count as one. */
const signalIntervalMs = 800
/** Who is in such a hurry waits no longer than this for an end in order. */
const urgentTimeoutMs = 5_000

export function stopCommand(open: OpenContext): Command {
  return new Command('stop')
    .description('end the daemon of this machine, and wait until it is gone')
    .option('--now', 'without waiting for running answers')
    .action(async ({ now }: { now?: boolean }) => {
      const context = await open()
      const { printer, places } = context
      const noted = await askNotedDaemon(places)
      if (noted?.answerer === 'silence') throw notAnswering(noted.state.pid)
      if (noted?.answerer !== 'daemon') {
        if (!noted) await forgetEndedDaemon(context)
        printer.note('No daemon runs here.')
        await noteStranger(context)
        return await printer.answer({ stopped: false, pid: null }, () => [])
      }
      const running = noted.state
      const { pid, command } = running
      if (command === 'up') await askForBoth(context, running)
      process.kill(pid, 'SIGTERM')
      await whileWaiting(printer, 'Running answers may finish', () => untilGone(pid, now === true))
      await forgetDaemonState(places, pid)
      printer.success(`The daemon at ${running.url} has ended.`)
      await printer.answer({ stopped: true, pid }, () => [])
    })
}

async function forgetEndedDaemon({ places }: Context) {
  const left = await readDaemonState(places)
  if (left) await forgetDaemonState(places, left.pid)
}

/** It cannot prove that it is ours, and is not killed. */
function notAnswering(pid: number): Failure {
  return new Failure('failed', `The daemon (process ${pid}) does not answer.`, {
    hint: `Try again in a moment. If it still does not answer, end the process: kill -9 ${pid}`,
    details: { pid },
  })
}

/** Says why `stop` does not stop what answers at the usual port. */
async function noteStranger(context: Context) {
  const stranger = await findStranger(context)
  if (stranger) context.printer.note(`  ${describeStranger(stranger).text} It is left alone.`)
}

function askForBoth({ asker }: Context, { pid }: DaemonState) {
  return asker.confirm(`It runs in shoal up (process ${pid}), with the registry. End both?`)
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

/** After the first SIGTERM. */
const urgentSignals = (): { signal: NodeJS.Signals; afterMs: number }[] => [
  { signal: 'SIGTERM', afterMs: signalIntervalMs },
  { signal: 'SIGKILL', afterMs: urgentTimeoutMs },
]

function stillThere(pid: number, isUrgent: boolean): Failure {
  return new Failure('failed', `Process ${pid} is still there.`, {
    hint: isUrgent
      ? 'It waits for the disk or the system, and goes once that answers.'
      : 'shoal stop --now ends it, whatever it is doing.',
    details: { pid },
  })
}
