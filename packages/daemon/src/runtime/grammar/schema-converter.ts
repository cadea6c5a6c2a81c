/**
 * Converts schemas to grammars in a thread, so that other requests to the model continue meanwhile. Limits on states and
 * steps end most conversions early. The limits on time and memory also end those that these limits do not foresee.
 */
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { startWorker } from '@shoal/threads'
import type { Converted } from './grammar-thread.ts'
import { SchemaError } from './schema-error.ts'

/** Ordinary schemas take a few milliseconds, and the largest that are supported up to a second if the processor is idle. */
const defaultTimeoutMs = 5000
const maxMemoryMb = 256

/** Takes the schema as JSON. Rejects with a `SchemaError` that states which keyword cannot be enforced. */
export type SchemaConverter = (schema: string) => Promise<string>

/** The thread starts with the first schema, and remains until the process ends. */
export function schemaConverter(timeoutMs = defaultTimeoutMs): SchemaConverter {
  let thread: Promise<Worker> | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function convert(schema: string): Promise<string> {
    thread ??= start().catch((error) => {
      thread = undefined
      throw error
    })
    const worker = await thread
    worker.postMessage(schema)
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      const [converted] = (await once(worker, 'message', { signal })) as [Converted]
      return grammarOf(converted)
    } catch (error) {
      if (error instanceof SchemaError) throw error
      thread = undefined
      await worker.terminate()
      throw limitError(error)
    }
  }

  /** One conversion at a time, so that the time limit is that of one conversion. */
  return (schema) => {
    const result = last.then(() => convert(schema))
    last = result.catch(() => undefined)
    return result
  }
}

async function start(): Promise<Worker> {
  const worker = startWorker('grammar-thread', import.meta.url, {
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
  })
  await once(worker, 'message')
  worker.unref()
  return worker
}

function grammarOf(converted: Converted): string {
  if ('grammar' in converted) return converted.grammar
  if ('refusal' in converted) throw new SchemaError(converted.refusal)
  throw new SchemaError(`it cannot be converted to a grammar: ${converted.failure}`)
}

function limitError(cause: unknown): unknown {
  if (!(cause instanceof Error) || !('code' in cause)) return cause
  if (cause.code === 'ABORT_ERR') {
    return new SchemaError('its conversion to a grammar takes too long', { cause })
  }
  if (cause.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new SchemaError('its conversion to a grammar takes too much memory', { cause })
  }
  return cause
}
