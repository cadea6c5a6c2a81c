/** The number of batches for each number of threads in a trial. */
const roundLength = 3
/**
 * The minimum pause after a trial, as a multiple of the time that the trial spent with other numbers of threads than
 * the current one, so that trials take at most a twentieth of the time. The pause also lasts at least `minRestMs`.
 */
const restPerTrial = 20
const minRestMs = 1_000
/** A trial of a number of threads ends early if a batch takes this many times as long as with the current number. */
const hopelessFactor = 3
/**
 * Fewer threads are chosen only if they reduce the time for a batch to less than this share. Even if more threads do
 * not speed up the generation of tokens, they speed up the processing of prompts.
 */
const fewerThreadsGain = 0.9
/** A core counts as free if other processes use less than this share of it. */
const negligibleUse = 0.25

export type Batch = {
  tokens: number
  /** The number of conversations in the batch. */
  conversations: number
  /** The number of cores that no other process uses; undefined if unknown. */
  freeCores: number | undefined
}

type Round = { threads: number; times: number[] }

type Trial = {
  conversations: number
  /** The round with the current number of threads. */
  first: Round
  /** The round in progress, followed by those that have not begun. */
  left: Round[]
  done: Round[]
}

/**
 * Chooses the number of threads for each batch. llama.cpp's threads spin while they wait for each other, hundreds of
 * times per token. If the system preempts one thread, all threads wait, and two threads that share a core can be a
 * hundred times slower than one. Therefore, there are never more threads than free cores. From time to time, half as
 * many and twice as many threads are tried for a few tokens. If one of these numbers is faster, it is used from then
 * on. Times are in milliseconds, as measured by a monotonic clock.
 */
export function threadChoice(maxThreads: number) {
  let chosen = maxThreads
  let trial: Trial | undefined
  let nextTrialAt = Number.NEGATIVE_INFINITY
  let startedAt: number | undefined

  function beginTrial(threads: number, limit: number, conversations: number) {
    const others = [Math.floor(threads / 2), Math.min(threads * 2, limit)]
    const [first, ...left] = [threads, ...others.filter((one) => one >= 1 && one !== threads)].map(
      (one): Round => ({ threads: one, times: [] }),
    )
    if (!first || left.length === 0) return undefined
    return { conversations, first, left: [first, ...left], done: [] }
  }

  function endTrial({ first, done }: Trial, at: number) {
    const currentMs = median(first.times)
    const others = done.filter((round) => round !== first)
    const scores = others.map(({ threads, times }) => {
      const isHopeless = times.length < roundLength
      const ms = isHopeless ? Number.POSITIVE_INFINITY : median(times)
      return { threads, share: ms / currentMs / (threads < first.threads ? fewerThreadsGain : 1) }
    })
    const best = scores.toSorted((one, other) => one.share - other.share)[0]
    if (best && best.share < 1) chosen = best.threads
    const spentMs = others.flatMap(({ times }) => times).reduce((sum, ms) => sum + ms, 0)
    nextTrialAt = at + Math.max(minRestMs, restPerTrial * spentMs)
    trial = undefined
  }

  return {
    /** Call this before each batch. Returns the number of threads for the batch. */
    begin({ tokens, conversations, freeCores = maxThreads }: Batch, at: number): number {
      const limit = Math.min(maxThreads, Math.max(1, Math.floor(freeCores + negligibleUse)))
      const present = Math.min(chosen, limit)
      // Prompts take longer than single tokens, so only batches with one token per conversation are compared, and only
      // with batches of equal size.
      const isAlike = trial?.conversations === conversations
      const isTooMany = trial?.left.some(({ threads }) => threads > limit)
      if (tokens !== conversations || !isAlike || isTooMany) trial = undefined
      if (tokens === conversations && at >= nextTrialAt) {
        trial ??= beginTrial(present, limit, conversations)
      }
      startedAt = trial && at
      return trial?.left[0]?.threads ?? present
    },

    /** Call this after each batch. Further calls before the next batch have no effect. */
    end(at: number) {
      const [round] = trial?.left ?? []
      if (!trial || !round || startedAt === undefined) return
      const ms = at - startedAt
      startedAt = undefined
      round.times.push(ms)
      const isHopeless = round !== trial.first && ms > hopelessFactor * median(trial.first.times)
      if (!isHopeless && round.times.length < roundLength) return
      trial.done.push(round)
      trial.left.shift()
      if (trial.left.length === 0) endTrial(trial, at)
    },
  }
}

function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY
}
