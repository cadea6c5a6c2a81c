import type { Llama } from 'node-llama-cpp'
import { freeCoresMeter } from '../../machine/free-cores.ts'
import type { RuntimeOptions } from '../runtime.ts'
import { threadChoice } from './thread-choice.ts'

/**
 * Sets the number of threads for each batch. The caller must call `begin` before each batch, and `end` after it.
 * Returns undefined if the number is fixed.
 */
export function adaptThreads(
  llama: Llama,
  { threads, areThreadsAdapted }: RuntimeOptions,
  freeCores?: () => number | undefined,
) {
  if (!areThreadsAdapted || threads === 1) return undefined
  const choice = threadChoice(threads)
  const measure = freeCores ?? freeCoresMeter()
  return {
    /** Call this before each batch and, with 0 conversations, before each text to embed. */
    begin(conversations: number, tokens: number) {
      const batch = { conversations, tokens, freeCores: measure() }
      // The library reads `maxThreads` before each batch, and uses at most this number of threads for a context.
      llama.maxThreads = choice.begin(batch, performance.now())
    },
    end: () => choice.end(performance.now()),
  }
}
