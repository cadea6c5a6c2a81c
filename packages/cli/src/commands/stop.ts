import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { findDaemon } from '../daemon/find-daemon.ts'
import {
  type DaemonState,
  findRunningDaemon,
  forgetDaemonState,
  isProcessThere,
  readDaemonState,
} from '../daemon/state-file.ts'
import { describeStranger } from '../daemon/stranger.ts'
import { Failure } from '../terminal/failure.ts'
import { whileWaiting } from '../terminal/waiting.ts'

/** Answers that run get half a minute, and models five seconds to free their memory. */
const patienceMilliseconds = 60_000
const pollMilliseconds = 50
/** Two signals that follow on each other's heels count as one. */
const betweenSignalsMilliseconds = 800
/** Who is in such a hurry waits no longer than this for an end in order. */
const urgentPatienceMilliseconds = 5_000

export function stopCommand(open: OpenContext): Command {
  return new Command('stop')
    .description('end the daemon of this machine, and wait until it is gone')
    .option('--now', 'without waiting for running answers')
    .action(async ({ now }: { now?: boolean }) => {
      const context = await open()
      const { printer, places } = context
      const running = await findRunningDaemon(places)
      if (!running) {
        await tidyUp(context)
        printer.note('No daemon runs here.')
        await noteStranger(context)
        return await printer.answer({ stopped: false, pid: null }, () => [])
      }
      const { pid, command } = running
      if (command === 'up') await askForBoth(context, running)
      process.kill(pid, 'SIGTERM')
      await whileWaiting(printer, 'Running answers may finish', () => untilGone(pid, now === true))
      await forgetDaemonState(places, pid)
      printer.success(`The daemon at ${running.url} has ended.`)
      await printer.answer({ stopped: true, pid }, () => [])
    })
}

/** The note of a daemon that was killed. */
async function tidyUp({ places }: Context) {
  const left = await readDaemonState(places)
  if (left && !(await isProcessThere(left.pid))) await forgetDaemonState(places, left.pid)
}

/** Says why `stop` does not stop what answers at the usual port. */
async function noteStranger(context: Context) {
  const found = await findDaemon(context)
  if (found.from !== 'nowhere' || !found.stranger) return
  context.printer.note(`  ${describeStranger(found.stranger).text} It is left alone.`)
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
    if (next && waited > next.afterMilliseconds) {
      signals.shift()
      process.kill(pid, next.signal)
    }
    if (waited > patienceMilliseconds) throw stillThere(pid, isUrgent)
    await sleep(pollMilliseconds)
  }
}

/** After the first SIGTERM. */
const urgentSignals = (): { signal: NodeJS.Signals; afterMilliseconds: number }[] => [
  { signal: 'SIGTERM', afterMilliseconds: betweenSignalsMilliseconds },
  { signal: 'SIGKILL', afterMilliseconds: urgentPatienceMilliseconds },
]

function stillThere(pid: number, isUrgent: boolean): Failure {
  return new Failure('failed', `Process ${pid} is still there.`, {
    hint: isUrgent
      ? 'It waits for the disk or the system, and goes once that answers.'
      : 'shoal stop --now ends it, whatever it is doing.',
    details: { pid },
  })
}
