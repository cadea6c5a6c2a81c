import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { GgufBytes } from '../testing/gguf-bytes.ts'
import { type GgufInput, makeGguf } from '../testing/make-gguf.ts'
import { getRefusal, parseBytes } from '../testing/parse-bytes.ts'
import { parseGguf } from './gguf.ts'
import { readGgufFile } from './gguf-file.ts'
import { HeaderReader } from './gguf-reader.ts'
import { wholeArrays } from './gguf-values.ts'

const tiny = new URL('../../../../models/shoal-tiny/shoal-tiny-Q8_0.gguf', import.meta.url)

test('the header of a real model is read', async () => {
  const header = await readGgufFile(fileURLToPath(tiny))
  expect(header).toMatchObject({ version: 3, alignment: 32 })
  expect(header.metadata.get('general.architecture')).toBe('llama')
  expect(header.tensors).toHaveLength(56)
  expect(header.tensors[0]).toEqual({
    name: 'token_embd.weight',
    shape: [256, 2048],
    type: 'Q8_0',
    offset: 0,
    sizeBytes: (256 * 2048 * 34) / 32,
  })
})

test('values of every type are read as they were written', async () => {
  const metadata = {
    text: 'fischschwarm 🐟',
    yes: true,
    u8: { type: 'u8', value: 255 },
    i8: { type: 'i8', value: -1 },
    u16: { type: 'u16', value: 65_535 },
    i16: { type: 'i16', value: -2 },
    u32: 4_294_967_295,
    i32: -3,
    f32: 0.00001,
    f64: { type: 'f64', value: Math.PI },
    u64: 2n ** 63n,
    i64: { type: 'i64', value: -5 },
  } as const
  const header = await parseBytes(makeGguf({ metadata }))
  expect(Object.fromEntries(header.metadata)).toEqual({
    ...metadata,
    u8: 255,
    i8: -1,
    u16: 65_535,
    i16: -2,
    f64: Math.PI,
    i64: -5,
  })
})

test('a vocabulary is reduced to its length and first items; small arrays are kept in full', async () => {
  const tokens = Array.from({ length: 10_000 }, (_, index) => `token ${index}`)
  const perLayer = Array.from({ length: 80 }, (_, layer) => layer % 8)
  const metadata = { tokens, perLayer, tags: ['a', 'b'] }
  const header = await parseBytes(makeGguf({ metadata }))
  expect(Object.fromEntries(header.metadata)).toEqual({
    tokens: { type: 'string', length: 10_000, items: tokens.slice(0, 8) },
    perLayer: { type: 'u32', length: 80, items: perLayer },
    tags: { type: 'string', length: 2, items: ['a', 'b'] },
  })
})

test('a vocabulary is kept in full on request', async () => {
  const tokens = Array.from({ length: 10_000 }, (_, index) => `token ${index}`)
  const file = makeGguf({ metadata: { tokens } })
  const read = async (offset: number, length: number) => file.subarray(offset, offset + length)
  const { metadata } = await parseGguf(read, file.length, wholeArrays)
  expect(metadata.get('tokens')).toEqual({ type: 'string', length: 10_000, items: tokens })
})

test('a string of more than 1 MiB is truncated; a shorter one is kept in full', async () => {
  const template = 't'.repeat(1024 * 1024)
  const header = await parseBytes(
    makeGguf({ metadata: { template, long: `${template}!`, after: 1 } }),
  )
  expect(header.metadata.get('template')).toBe(template)
  expect(header.metadata.get('long')).toEqual({
    type: 'string',
    length: template.length + 1,
    start: 't'.repeat(1024),
  })
  expect(header.metadata.get('after')).toBe(1)
})

test('nested arrays are skipped', async () => {
  const bytes = new GgufBytes().string('nested').type('array').type('array').u64(2)
  bytes.type('u8').u64(3).raw(new Uint8Array(3)).type('string').u64(1).string('deep')
  const start = new GgufBytes().raw('GGUF').u32(3).u64(0).u64(2)
  const file = start.raw(bytes.string('after').value(1).toBytes()).toBytes()
  const { metadata } = await parseBytes(file)
  expect(metadata.get('nested')).toEqual({ type: 'array', length: 2, items: [] })
  expect(metadata.get('after')).toBe(1)
})

test('version 2 is read; version 1, big-endian files and other files are rejected', async () => {
  const withVersion = (version: number) => {
    const file = makeGguf({})
    new DataView(file.buffer).setUint32(4, version, true)
    return file
  }
  expect(await parseBytes(withVersion(2))).toMatchObject({ version: 2 })
  expect(await getRefusal(withVersion(1))).toBe(
    'GGUF version 1 is not supported; only versions 2 and 3 are',
  )
  expect(await getRefusal(withVersion(0x03000000))).toBe('big-endian GGUF files are not supported')
  expect(await getRefusal(new TextEncoder().encode('{"model": "json"}'))).toBe(
    'not a GGUF file: it does not start with "GGUF"',
  )
  expect(await getRefusal(new Uint8Array())).toBe(
    'the file ends at byte 0, in the middle of its header',
  )
})

test('the alignment is read from the header and must be a power of two', async () => {
  const withAlignment = (alignment: GgufInput['metadata']) =>
    makeGguf({ metadata: alignment ?? {} })
  expect(await parseBytes(withAlignment({ 'general.alignment': 64 }))).toMatchObject({
    alignment: 64,
  })
  expect(await getRefusal(withAlignment({ 'general.alignment': 0 }))).toBe(
    'the alignment is 0, not a power of two',
  )
  expect(await getRefusal(withAlignment({ 'general.alignment': 48 }))).toContain('48')
  expect(await getRefusal(withAlignment({ 'general.alignment': '32' }))).toBe(
    'general.alignment has the type string, not u32',
  )
})

test('only the beginning of a skipped array is read', async () => {
  const scoresBytes = 200 * 1024 * 1024
  const head = new GgufBytes().raw('GGUF').u32(3).u64(0).u64(2)
  head.string('scores').type('array').type('u8').u64(scoresBytes)
  const start = head.toBytes()
  const tail = new GgufBytes().string('after').value(7).toBytes()
  let bytesRead = 0
  const header = await parseGguf(
    async (offset, length) => {
      const inTail = offset - start.length - scoresBytes
      const bytes = new Uint8Array(length)
      if (inTail >= 0) return tail.subarray(inTail, inTail + length)
      if (offset < start.length) bytes.set(start.subarray(offset, offset + length))
      bytesRead += length
      return bytes
    },
    start.length + scoresBytes + tail.length,
  )
  expect(header.metadata.get('after')).toBe(7)
  expect(bytesRead).toBeLessThan(4 * 1024 * 1024)
})

test('a header longer than 256 MiB is rejected', async () => {
  const head = new GgufBytes().raw('GGUF').u32(3).u64(0).u64(2).string('a').type('array').type('u8')
  const start = head.u64(256 * 1024 * 1024 - head.toBytes().length - 8).toBytes()
  const read = async (offset: number, length: number) => {
    const bytes = new Uint8Array(length)
    bytes.set(start.subarray(offset, offset + length))
    return bytes
  }
  await expect(parseGguf(read, 2 ** 40)).rejects.toThrow(
    'the header is longer than 268435456 bytes',
  )
})

test('a source shorter than its declared size is rejected', async () => {
  const file = makeGguf({ metadata: { text: 'x'.repeat(100) } })
  await expect(parseBytes(file.subarray(0, 60), file.length)).rejects.toThrow(
    'the file ends at byte 60, in the middle of its header',
  )
})

test('the tokens of a vocabulary are skipped together, without waiting for each of them', async () => {
  const tokens = Array.from({ length: 100_000 }, (_, index) => `token ${index}`)
  const file = makeGguf({ metadata: { tokens } })
  onTestFinished(() => void vi.restoreAllMocks())
  const waits = (['bytes', 'string', 'u32', 'u64', 'view'] as const).map((method) =>
    vi.spyOn(HeaderReader.prototype, method),
  )
  const read = vi.fn(async (offset: number, length: number) =>
    file.subarray(offset, offset + length),
  )
  await parseGguf(read, file.length)
  expect(waits.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBeLessThan(100)
  // Each read fetches the next mebibyte of the header. Two strings may be cut off by the end of what was read.
  expect(read.mock.calls.length).toBeLessThanOrEqual(Math.ceil(file.length / 2 ** 20) + 1)
})
