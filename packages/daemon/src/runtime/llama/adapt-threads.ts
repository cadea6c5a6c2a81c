import type { Llama } from 'node-llama-cpp'
import type { RuntimeOptions } from '../runtime.ts'
import { freeCoresMeter } from './free-cores.ts'
import { threadChoice } from './thread-choice.ts'

/** Sets the threads of each batch before it is computed; undefined if their number is fixed. */
export function adaptThreads(
  llama: Llama,
  { threads, areThreadsAdapted }: RuntimeOptions,
  freeCores?: () => number | undefined,
) {
  if (!areThreadsAdapted || threads === 1) return undefined
  const choice = threadChoice(threads)
  const measure = freeCores ?? freeCoresMeter()
  return {
    /** Call it before a batch, or before a text to embed, which has no conversations. */
    begin(conversations: number, tokens: number) {
      const batch = { conversations, tokens, freeCores: measure() }
      // The library reads this before each batch, and gives a context no more threads than that.
      llama.maxThreads = choice.begin(batch, performance.now())
    },
    end: () => choice.end(performance.now()),
  }
}
