/** Converts an answer to the events of a streamed response. The last event contains the entire response. */
import { convertSteps } from '../http/stream-answer.ts'
import type { Finish, Piece } from '../runtime/runtime.ts'
import { type Delta, toDeltas } from './deltas.ts'
import {
  beginItem,
  continueItem,
  createItem,
  endItem,
  type ItemOptions,
  isCall,
  type ResponseEvent,
} from './item-events.ts'
import type { OutputItem } from './items.ts'
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
  yield { type: 'response.created', response: structuredClone(response) }
  yield inProgress(response)
  const { output } = response
  const finish = yield* convertSteps(steps, function* (piece): Generator<ResponseEvent> {
    for (const delta of toDeltas(piece)) {
      let item = output.at(-1)
      if (delta.name !== undefined || !item || kindOf(item) !== delta.kind) {
        if (item) yield* endItem(item, output.length - 1, 'completed')
        item = createItem(delta, itemOptions)
        yield* beginItem(item, output.length)
        output.push(item)
      }
      yield* continueItem(item, output.length - 1, delta)
    }
  })
  const status = finish.reason === 'length' ? 'incomplete' : 'completed'
  const last = output.at(-1)
  if (last) yield* endItem(last, output.length - 1, status)
  const finished = finishResponse(response, finish)
  keep(finished)
  yield { type: `response.${status}`, response: finished }
  return finished
}

/** May be sent again at any time. */
export const inProgress = (response: ResponseObject): ResponseEvent => ({
  type: 'response.in_progress',
  response: structuredClone(response),
})

function kindOf(item: OutputItem): Delta['kind'] {
  if (isCall(item)) return 'call'
  return item.type === 'message' ? 'text' : 'reasoning'
}
