import type { InputItem } from '@shoal/protocol'
import { LRUCache } from 'lru-cache'
import { Fault } from '../errors.ts'
import type { ResponseObject } from './response-object.ts'

type Kept = {
  response: ResponseObject
  /** The conversation, including this response. Its items are shared with the conversation that it continues. */
  conversation: InputItem[]
  /** The size of the conversation and of the response as JSON, in characters. */
  size: number
}

type Limits = { maxCount: number; maxSize: number; maxAgeMs: number }

const defaultLimits: Limits = {
  maxCount: 1000,
  maxSize: 64 * 1024 * 1024,
  maxAgeMs: 60 * 60_000,
}

/**
 * The responses that later requests can continue. They are only in memory, because prompts and answers are never
 * written to disk. The least recently used ones are dropped first.
 */
export function keptResponses({ maxCount, maxSize, maxAgeMs }: Limits = defaultLimits) {
  /** The items of kept responses by ID. A request can contain the ID of an item in place of the item. */
  const items = new Map<string, InputItem>()
  const kept = new LRUCache<string, Kept>({
    max: maxCount,
    maxSize,
    ttl: maxAgeMs,
    ttlAutopurge: true,
    sizeCalculation: ({ size }) => size,
    dispose: ({ response }) => {
      for (const { id } of response.output) items.delete(id)
    },
  })

  const notFound = (what: string, param: string) =>
    new Fault(
      'response_not_found',
      `${what} not found: responses are kept only in memory, for up to an hour and until the daemon is restarted`,
      { param },
    )

  function find(id: string, param: string): Kept {
    const found = kept.get(id)
    if (found) return found
    throw notFound(`response ${id}`, param)
  }

  function withoutReference(item: InputItem, index: number): InputItem {
    if (item.type !== 'item_reference') return item
    const found = items.get(item.id ?? '')
    if (found) return found
    throw notFound(`item ${item.id}`, `input.${index}.id`)
  }

  return {
    get: (id: string) => find(id, 'response_id').response,

    remove(id: string) {
      find(id, 'response_id')
      kept.delete(id)
    },

    /** Returns the conversation up to the response `previousId`, followed by `input`. */
    continue(input: string | InputItem[], previousId: string | null | undefined): InputItem[] {
      const before = previousId ? find(previousId, 'previous_response_id').conversation : []
      if (typeof input === 'string') return [...before, { role: 'user', content: input }]
      return [...before, ...input.map(withoutReference)]
    },

    keep(response: ResponseObject, conversation: InputItem[]) {
      // A call that was cut off cannot have been executed, so the conversation continues without it.
      const answer = response.output.filter(
        ({ type, status }) => type !== 'function_call' || status !== 'incomplete',
      )
      const whole = [...conversation, ...answer]
      // The items of earlier responses count again, because they stay in memory if those responses are dropped.
      const size = JSON.stringify([response, whole]).length
      kept.set(response.id, { response, conversation: whole, size })
      if (!kept.has(response.id)) return // it is larger than the limit
      for (const item of response.output) items.set(item.id, item)
    },
  }
}
