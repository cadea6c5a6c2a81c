import { expect, test } from 'vitest'
import { maxEventLength, readEvents } from './read-events.ts'

async function* streamParts(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? new TextEncoder().encode(part) : part
}

async function readData(...parts: (string | Uint8Array)[]): Promise<string[]> {
  const events: string[] = []
  for await (const data of readEvents(streamParts(...parts))) events.push(data)
  return events
}

test('an empty line ends an event', async () => {
  expect(await readData('data: one\n\ndata:two\n\n')).toEqual(['one', 'two'])
})

test.each(['\n', '\r\n', '\r'])(
  'events may be split at every byte, with %j line endings',
  async (eol) => {
    const text = `: hello${eol}data: {"a":"é 🐟"}${eol}${eol}data: [DONE]${eol}${eol}: end${eol}`
    const bytes = new TextEncoder().encode(text)
    const expected = ['{"a":"é 🐟"}', '[DONE]']
    expect(await readData(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected)
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(await readData(bytes.subarray(0, at), bytes.subarray(at))).toEqual(expected)
    }
  },
)

test('several lines of data in one event are joined', async () => {
  expect(await readData('data: a\ndata: b\nid: 1\n\n\n')).toEqual(['a\nb'])
})

test('comments, unknown fields and events with other names are skipped', async () => {
  const events = [
    ': keep-alive\n\n',
    'event: ping\ndata: ping\n\n',
    'colour: red\nretry: soon\ndata: one\n\n',
    'event: error\ndata: two\n\n',
  ]
  expect(await readData(...events)).toEqual(['one', 'two'])
})

test('an event that is cut off is dropped', async () => {
  expect(await readData('data: one\n\ndata: tw')).toEqual(['one'])
  expect(await readData('data: one\n\ndata: two\n')).toEqual(['one'])
})

test('a byte order mark at the beginning is skipped', async () => {
  expect(await readData('\uFEFFdata: one\n\n')).toEqual(['one'])
})

test('an endless event causes an error before it fills the memory', async () => {
  let sent = 0
  async function* endless() {
    yield new TextEncoder().encode('data: one\n\ndata: ')
    for (; ; sent += 65_536) yield new Uint8Array(65_536).fill(120)
  }
  const events = readEvents(endless())
  expect((await events.next()).value).toBe('one')
  await expect(events.next()).rejects.toThrow('max buffer size')
  expect(sent).toBeLessThan(maxEventLength + 65_536)
})

test('leaving the loop ends the stream', async () => {
  let hasEnded = false
  async function* body() {
    try {
      for (;;) yield new TextEncoder().encode('data: x\n\n')
    } finally {
      hasEnded = true
    }
  }
  for await (const _ of readEvents(body())) break
  expect(hasEnded).toBe(true)
})
