/** Converts an answer to the events of a streamed response. The last event contains the entire response. */
import type { Finish, Piece } from '../runtime/runtime.ts'
import { toDeltas } from './deltas.ts'
import {
  beginItem,
  continueItem,
  createItem,
  endItem,
  type ItemOptions,
  type ResponseEvent,
} from './item-events.ts'
import { finishResponse, type ResponseObject } from './response-object.ts'

type Options = ItemOptions & {
  /** Called before the last event, so that the client can continue the response at once. */
  keep(response: ResponseObject): void
}

/**
 * Yields the events of an answer, and adds items to `response` as they are generated. If the answer fails, `response`
 * contains the items received so far.
 */
export async function* responseEvents(
  steps: AsyncGenerator<Piece, Finish>,
  response: ResponseObject,
  { keep, ...itemOptions }: Options,
): AsyncGenerator<ResponseEvent, ResponseObject> {
  // Until the request is admitted, an error can be sent with its own HTTP status.
  let step = await steps.next()
  yield { type: 'response.created', response: structuredClone(response) }
  yield { type: 'response.in_progress', response: structuredClone(response) }
  const { output } = response
  for (; !step.done; step = await steps.next()) {
    for (const delta of toDeltas(step.value)) {
      let item = output.at(-1)
      if (delta.name !== undefined || item?.type !== itemTypes[delta.kind]) {
        if (item) yield* endItem(item, output.length - 1, 'completed')
        item = createItem(delta, itemOptions)
        yield* beginItem(item, output.length)
        output.push(item)
      }
      yield* continueItem(item, output.length - 1, delta)
    }
  }
  const status = step.value.reason === 'length' ? 'incomplete' : 'completed'
  const last = output.at(-1)
  if (last) yield* endItem(last, output.length - 1, status)
  const finished = finishResponse(response, step.value)
  keep(finished)
  yield { type: `response.${status}`, response: finished }
  return finished
}

const itemTypes = { text: 'message', reasoning: 'reasoning', call: 'function_call' } as const
