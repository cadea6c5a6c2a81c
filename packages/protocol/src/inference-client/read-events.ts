import { createParser } from 'eventsource-parser'

/**
 * Maximum length of an event, in characters. An event normally contains a few tokens. Without this limit, an endless
 * event would exhaust the memory.
 */
export const maxEventLength = 1024 * 1024

/**
 * Yields the data of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as they
 * arrive. Skips comments, which keep connections alive, and events with names other than `message` and `error`. An
 * incomplete event at the end is not yielded. Throws if an event is longer than `maxEventLength` characters.
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
      // Unknown fields are also reported to this callback, but are ignored, as the standard requires.
      if (error.type === 'max-buffer-size-exceeded') tooLong = error
    },
  })
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* arrived.splice(0)
    if (tooLong) throw tooLong
  }
}
