import { createParser } from 'eventsource-parser'

/** Events hold a few tokens. A longer one is an error, to protect memory. */
export const maxEventLength = 1024 * 1024

/**
 * The data of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as they arrive. Skips
 * comments, which keep connections alive, and events with other names. An incomplete event at the end is not yielded. Throws if
 * an event is longer than `maxEventLength` characters.
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
