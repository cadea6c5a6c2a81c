import { type Clock, waitingClock } from '@shoal/core/async'
import { type Board, receivedBytes } from './board.ts'
import type { RunningTask } from './running-task.ts'

/** A request is slow if its rate is below this share of the other requests' median rate. */
const slowShare = 1 / 4
/** The network is considered saturated if it delivers at least this share of its maximum rate. */
const saturatedShare = 3 / 4
/** At each measurement, the recorded maximum rate is multiplied by this factor, because networks change. */
const ageing = 0.98
const samplesPerWindow = 3
/**
 * After a gap of this length between samples, for example because the machine was suspended, earlier measurements are
 * discarded. A rate computed across the gap would measure the gap, not the network.
 */
const lateMs = 1000

/** The numbers of bytes received up to one moment, in total and per request. */
type Reading = { at: number; received: number; here: Map<RunningTask, number> }

/** Finds requests that are slow although the network is not. Rates are in bytes per millisecond. */
export interface SlowTasks {
  /** Measures all requests in progress. Must be called often. */
  sample(running: Iterable<RunningTask>): void
  /** Records that a task has received its complete chunk. */
  noteDone(task: RunningTask): void
  /**
   * Returns the slowest task for which `isWanted` is true, with its rate; undefined if none is slow. After returning a
   * task, this method returns no other until the effect of restarting that task can be measured, which takes one
   * window.
   */
  takeSlowest(
    isWanted: (task: RunningTask) => boolean,
  ): { task: RunningTask; rate: number } | undefined
}

/**
 * Creates a `SlowTasks` without measurements. A request is slow if, over the last `windowMs`, it received nothing, or
 * far less than the other requests while the network was not saturated.
 */
export function slowTasks(board: Board, windowMs: number, clock: Clock = waitingClock): SlowTasks {
  let lastSampleAt = clock.now()
  let readings: Reading[] = []
  let rates = new Map<RunningTask, number>()
  let totalRate = 0
  let highestTotalRate = 0
  /** The moving average of the rates of completed requests. */
  let usualRate = 0

  const here = ({ chunk }: RunningTask) => Atomics.load(board.written, chunk.index)

  function take(reading: Reading) {
    const last = readings.at(-1)
    readings.push(reading)
    if (readings.length > samplesPerWindow + 1) readings.shift()
    const [first] = readings
    if (first === undefined || last === undefined || readings.length <= samplesPerWindow) return
    totalRate = totalBetween(last, reading)
    highestTotalRate = Math.max(totalBetween(first, reading), highestTotalRate * ageing)
    const elapsed = reading.at - first.at
    rates = new Map(
      [...reading.here].flatMap(([task, bytes]) => {
        const before = first.here.get(task)
        return before === undefined ? [] : [[task, (bytes - before) / elapsed]]
      }),
    )
  }

  function forget() {
    readings = []
    rates = new Map()
  }

  function isSlow(task: RunningTask, rate: number) {
    const others = [...rates].flatMap(([other, its]) => (other === task ? [] : its))
    const fairRate = others.length > 0 ? computeMedian(others) : usualRate
    const capacity = Math.max(highestTotalRate, usualRate)
    return rate < fairRate * slowShare && totalRate < capacity * saturatedShare
  }

  return {
    sample(running) {
      const at = clock.now()
      if (at - lastSampleAt > lateMs) forget()
      lastSampleAt = at
      const last = readings.at(-1)
      if (last !== undefined && at - last.at < windowMs / samplesPerWindow) return
      const bytes = Array.from(running, (task) => [task, here(task)] as const)
      take({ at, received: receivedBytes(board), here: new Map(bytes) })
    },

    noteDone({ chunk, from, startedAt }) {
      const rate = (chunk.size - from) / Math.max(1, clock.now() - startedAt)
      usualRate = usualRate === 0 ? rate : 0.8 * usualRate + 0.2 * rate
    },

    takeSlowest(isWanted) {
      const slow = [...rates].filter(([task, rate]) => {
        // A rate is negative if the whole chunk is being fetched again, because its source does not support ranges.
        const isLong = rate >= 0 && task.chunk.size - here(task) > rate * windowMs
        return isLong && isWanted(task) && (rate === 0 || isSlow(task, rate))
      })
      const [slowest] = slow.sort(([, one], [, other]) => one - other)
      if (slowest === undefined) return undefined
      forget()
      const [task, rate] = slowest
      return { task, rate }
    },
  }
}

function totalBetween(one: Reading, other: Reading): number {
  return (other.received - one.received) / (other.at - one.at)
}

function computeMedian(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
