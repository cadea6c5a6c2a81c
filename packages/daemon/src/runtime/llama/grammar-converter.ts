import { type AnswerSyntax, type OptionalCalls, SchemaError } from '@shoal/grammar'
import { limitedThread, ThreadLimitError } from '@shoal/threads'
import type { FormSource } from '../runtime.ts'

/** The input from which a grammar is created: the form of an answer, an entire answer, or calls that a model may make. */
export type GrammarSource = FormSource | { answer: AnswerSyntax } | { calls: OptionalCalls }

/** Ordinary schemas take a few milliseconds, and the largest that are supported take about a second. */
const defaultLimits = { maxCpuMs: 5000, maxHeapMb: 256 }

/**
 * Converts a `GrammarSource`, which is passed as JSON, to GBNF. If a keyword cannot be enforced, rejects with a
 * `SchemaError` that names the keyword.
 */
export type GrammarConverter = (source: string) => Promise<string>

/**
 * Converts schemas and tools to grammars in a separate thread, one after another, so that the model's other requests
 * continue. The limits on states and work stop most excessive conversions early. The limits on time and memory stop
 * all others.
 */
export function grammarConverter(limits = defaultLimits): GrammarConverter {
  const place = { name: 'grammar-thread', parentUrl: import.meta.url }
  const convert = limitedThread<string, string>(place, 'convert', limits)
  return (source) =>
    convert(source).catch((error) => {
      if (error instanceof ThreadLimitError) {
        throw new SchemaError(`its conversion to a grammar ${error.message}`)
      }
      // An error from another thread has the name of its class, but is not an instance of it.
      throw error.name === SchemaError.name ? new SchemaError(error.message) : error
    })
}
