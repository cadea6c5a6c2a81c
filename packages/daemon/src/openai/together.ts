import {
  type Finish,
  type Generation,
  isEmpty,
  type Piece,
  type Runtime,
} from '../runtime/runtime.ts'

export type GenerationStep = { index: number; piece: Piece } | { index: number; finish: Finish }

type Options = {
  /** The number of answers to each prompt. */
  count: number
  signal: AbortSignal
}

/**
 * Runs each generation `count` times, all in parallel, and yields the output as it is generated. Answers are numbered
 * as in OpenAI's API: all answers to the first prompt come first, then all answers to the second. If all generations
 * are admitted before the first output, an empty part is yielded first.
 */
export async function* together(
  runtime: Pick<Runtime, 'generate'>,
  generations: Generation[],
  { count, signal }: Options,
): AsyncGenerator<GenerationStep> {
  const stop = new AbortController()
  const any = AbortSignal.any([signal, stop.signal])
  const runs = generations.flatMap((generation) =>
    Array.from({ length: count }, (_, turn) =>
      runtime.generate(withOwnSeed(generation, turn), any),
    ),
  )
  const next = async (index: number) => ({ index, step: await runs[index]?.next() })
  const pending = new Map(runs.map((_, index) => [index, next(index)]))
  let admitted = 0
  try {
    while (pending.size > 0) {
      const { index, step } = await Promise.race(pending.values())
      if (!step || step.done) {
        pending.delete(index)
        if (step?.value) yield { index, finish: step.value }
        continue
      }
      if (isEmpty(step.value)) admitted += 1
      if (!isEmpty(step.value) || admitted === runs.length) yield { index, piece: step.value }
      pending.set(index, next(index))
    }
  } finally {
    stop.abort(new Error('the answer has ended'))
    await Promise.allSettled(pending.values())
  }
}

/** Each answer to a prompt has a different seed. With the same seed, all answers would be identical. */
function withOwnSeed(generation: Generation, turn: number): Generation {
  const { sampling } = generation
  return { ...generation, sampling: { ...sampling, seed: sampling.seed + turn } }
}
