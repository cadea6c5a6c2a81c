import { createParser } from 'eventsource-parser'

/** An event holds a few tokens. More than this in one is an error, before it fills the memory. */
export const maxEventLength = 1024 * 1024

/**
 * The data of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as they arrive. Comments,
 * which keep a connection alive, and events of other names are skipped. An event that is cut off at the end is not yielded.
 * Throws if an event is longer than `maxEventLength` characters.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const arrived: string[] = []
  let tooLong: Error | undefined
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event, data }) => {
      if (event === undefined || event === 'message' || event === 'error') arrived.push(data)
    },
    onError: (error) => {
      // Unknown fields are reported here too; the standard says to ignore them.
      if (error.type === 'max-buffer-size-exceeded') tooLong = error
    },
  })
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* arrived.splice(0)
    if (tooLong) throw tooLong
  }
}
