import { expect, test } from 'vitest'
import { readEvents } from './read-events.ts'

async function dataOf(...parts: (string | Uint8Array)[]): Promise<string[]> {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts)
        controller.enqueue(typeof part === 'string' ? encoder.encode(part) : part)
      controller.close()
    },
  })
  const events: string[] = []
  for await (const data of readEvents(body)) events.push(data)
  return events
}

test('an event is what stands before an empty line', async () => {
  expect(await dataOf('data: one\n\ndata:two\n\n')).toEqual(['one', 'two'])
})

test('events may be cut anywhere on their way', async () => {
  const text = 'data: {"a":"é 🐟"}\r\n\r\ndata: [DONE]\r\n\r\n'
  const bytes = new TextEncoder().encode(text)
  const singly = Array.from(bytes, (byte) => Uint8Array.of(byte))
  expect(await dataOf(...singly)).toEqual(['{"a":"é 🐟"}', '[DONE]'])
})

test('several lines of data are one text, and other fields are passed over', async () => {
  expect(await dataOf(': hello\nevent: x\ndata: a\ndata: b\nid: 1\n\n\n')).toEqual(['a\nb'])
})

test('an event that was cut off is none', async () => {
  expect(await dataOf('data: one\n\ndata: tw')).toEqual(['one'])
})

test('who leaves early ends the stream', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode('data: x\n\n')),
    cancel: () => resolve(true),
  })
  for await (const _ of readEvents(body)) break
  expect(await promise).toBe(true)
})
