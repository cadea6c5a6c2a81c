import { createHash } from 'node:crypto'
import type { InputItem } from '@shoal/protocol'
import { LRUCache } from 'lru-cache'
import { Fault } from '../errors.ts'
import { isCall } from './item-events.ts'
import type { ResponseObject } from './response-object.ts'

/**
 * A response and the conversation that ends with it, as JSON in UTF-8. As JavaScript objects, they could take many
 * times as much memory, so a limit on their size would not limit the memory.
 */
type Kept = {
  response: Buffer
  conversation: Buffer
  /** The digest of the API key that was used to create the response. No other key gives access to the response. */
  owner: string
}

type Limits = { maxCount: number; maxBytes: number; maxAgeMs: number }

const defaultLimits: Limits = {
  maxCount: 1000,
  maxBytes: 64 * 1024 * 1024,
  maxAgeMs: 60 * 60_000,
}

/** The maximum total size of the items to which a request refers. Equal to the maximum size of a request body. */
const maxReferredBytes = 16 * 1024 * 1024

/**
 * The responses that later requests can continue. They are kept only in memory, because prompts and answers are never
 * written to disk. The least recently used ones are dropped first. Each API key gives access only to the responses that
 * were created with it.
 */
export function keptResponses({ maxCount, maxBytes, maxAgeMs }: Limits = defaultLimits) {
  const kept = new LRUCache<string, Kept>({
    max: maxCount,
    maxSize: maxBytes,
    ttl: maxAgeMs,
    ttlAutopurge: true,
    sizeCalculation: ({ response, conversation }) => response.length + conversation.length,
    dispose({ response }) {
      for (const { id } of readJson<ResponseObject>(response).output) responseIds.delete(id)
    },
  })
  /** Maps each item's ID to the ID of its response, because a request can refer to an item by its ID. */
  const responseIds = new Map<string, string>()

  /** The responses of an API key; the empty string stands for requests without a key. */
  return function ofKey(key: string) {
    const owner = createHash('sha256').update(key).digest('hex')

    function findOwn(id: string): Kept | undefined {
      const found = kept.get(id)
      return found?.owner === owner ? found : undefined
    }

    function find(id: string, param: string): Kept {
      const found = findOwn(id)
      if (found) return found
      throw notFound(`response ${id}`, param)
    }

    function findItem(id: string, param: string): { item: InputItem; bytes: number } {
      const found = findOwn(responseIds.get(id) ?? '')
      const output = found ? readJson<ResponseObject>(found.response).output : []
      const item = output.find((one) => one.id === id)
      if (item) return { item, bytes: toJson(item).length }
      throw notFound(`item ${id}`, param)
    }

    /** Replaces references to items with the items themselves. */
    function withoutReferences(input: InputItem[]): InputItem[] {
      const known = new Map<string, ReturnType<typeof findItem>>()
      let total = 0
      return input.map((given, index) => {
        if (given.type !== 'item_reference') return given
        const param = `input.${index}.id`
        const { id } = given
        if (!id) throw new Fault(422, `${param} is required`, { param })
        const found = known.get(id) ?? findItem(id, param)
        known.set(id, found)
        total += found.bytes
        if (total <= maxReferredBytes) return found.item
        throw new Fault(413, 'the items to which input refers exceed 16 MiB in total', { param })
      })
    }

    return {
      get: (id: string) => readJson<ResponseObject>(find(id, 'response_id').response),

      remove(id: string) {
        find(id, 'response_id')
        kept.delete(id)
      },

      /** Returns the conversation up to the response `previousId`, followed by `input`. */
      continue(input: string | InputItem[], previousId: string | null | undefined): InputItem[] {
        const previous = previousId ? find(previousId, 'previous_response_id') : undefined
        const before = previous ? readJson<InputItem[]>(previous.conversation) : []
        const items =
          typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input
        return [...before, ...withoutReferences(items)]
      },

      keep(response: ResponseObject, conversation: InputItem[]) {
        // A call that was cut off cannot have been executed, so the conversation continues without it.
        const answer = response.output.filter(
          (item) => !isCall(item) || item.status !== 'incomplete',
        )
        const whole = [...conversation, ...answer]
        kept.set(response.id, { response: toJson(response), conversation: toJson(whole), owner })
        if (!kept.has(response.id)) return // it is larger than the limit
        for (const item of response.output) responseIds.set(item.id, response.id)
      },
    }
  }
}

const notFound = (what: string, param: string) =>
  new Fault(
    'response_not_found',
    `${what} not found: responses are kept only in memory, for at most an hour or until the daemon is restarted, and can be used only with the API key that was used to create them`,
    { param },
  )

const toJson = (value: object): Buffer => Buffer.from(JSON.stringify(value))

const readJson = <T>(json: Buffer): T => JSON.parse(json.toString()) as T
