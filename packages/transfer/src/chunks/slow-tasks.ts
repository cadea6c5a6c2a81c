import { type Board, receivedBytes } from './board.ts'
import type { RunningTask } from './running-task.ts'

/** A request is slow below this share of the others' rate. */
const slowShare = 1 / 4
/** A line that delivers this share of its maximum is taken to be saturated. */
const saturatedShare = 3 / 4
/** Each look reduces the weight of the maximum: lines change. */
const ageing = 0.98
const samplesPerWindow = 3
/**
 * After a pause of this process (a suspended machine, CPU starvation) its measurements say nothing about the network.
 */
const lateMs = 1000

/** Bytes received at one moment, in total and per request. */
type Reading = { at: number; received: number; here: Map<RunningTask, number> }

/** Finds requests that are slow for their own reasons. Rates are in bytes per millisecond. */
export interface SlowTasks {
  /** Call it often, with all running requests. */
  sample(running: Iterable<RunningTask>): void
  /** The task has its complete chunk. */
  noteDone(task: RunningTask): void
  /**
   * The slowest task for which `isWanted` is true, with its rate; undefined if none is slow. After one, there is none
   * for a window: its effect has to be seen first.
   */
  takeSlowest(
    isWanted: (task: RunningTask) => boolean,
  ): { task: RunningTask; rate: number } | undefined
}

/** Slow: over the last `windowMs` it was silent, or got far less than the others while the line was not saturated. */
export function slowTasks(board: Board, windowMs: number): SlowTasks {
  let lastSampleAt = performance.now()
  let readings: Reading[] = []
  let rates = new Map<RunningTask, number>()
  let totalRate = 0
  let highestTotalRate = 0
  /** Of completed requests. */
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
      const at = performance.now()
      if (at - lastSampleAt > lateMs) forget()
      lastSampleAt = at
      const last = readings.at(-1)
      if (last !== undefined && at - last.at < windowMs / samplesPerWindow) return
      const bytes = Array.from(running, (task) => [task, here(task)] as const)
      take({ at, received: receivedBytes(board), here: new Map(bytes) })
    },

    noteDone({ chunk, from, startedAt }) {
      const rate = (chunk.size - from) / Math.max(1, performance.now() - startedAt)
      usualRate = usualRate === 0 ? rate : 0.8 * usualRate + 0.2 * rate
    },

    takeSlowest(isWanted) {
      const slow = [...rates].filter(([task, rate]) => {
        // Negative: the whole chunk is fetched again, since its source does not support ranges.
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
