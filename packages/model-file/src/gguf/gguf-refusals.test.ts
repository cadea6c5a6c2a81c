import { expect, test } from 'vitest'
import { GgufBytes } from '../testing/gguf-bytes.ts'
import { makeGguf } from '../testing/make-gguf.ts'
import { getRefusal, parseBytes } from '../testing/parse-bytes.ts'

const nothing = new Uint8Array(4096)

/** Returns the error message for a header that contains these counts, followed by the bytes of `rest`. */
async function findProblem(
  counts: { tensors?: number | bigint; entries?: number | bigint },
  rest: GgufBytes,
): Promise<string> {
  const start = new GgufBytes().raw('GGUF').u32(3)
  start.u64(counts.tensors ?? 0).u64(counts.entries ?? 0)
  return getRefusal(start.raw(rest.toBytes()).toBytes())
}

function tensorBytes(
  name: string,
  shape: (number | bigint)[],
  type: number,
  offset: number | bigint,
): GgufBytes {
  const bytes = new GgufBytes().string(name).u32(shape.length)
  for (const length of shape) bytes.u64(length)
  return bytes.u32(type).u64(offset)
}

test('a tensor beyond the end of the file is rejected, and the message identifies it', async () => {
  const tensors = [
    { name: 'a', shape: [8], type: 'F32' },
    { name: 'blk.0.attn_k.weight', shape: [32, 4], type: 'Q8_0' },
  ]
  const file = makeGguf({ tensors })
  const { dataOffset } = await parseBytes(file)
  expect(await getRefusal(file.subarray(0, -1))).toBe(
    `the file is truncated: tensor 1 "blk.0.attn_k.weight" ends at byte ${dataOffset + 32 + 4 * 34}, ` +
      `beyond the end of the file (${file.length - 1})`,
  )
})

test.for<[string, GgufBytes]>([
  [
    'tensor 0 "t" starts at 8, which is not a multiple of the alignment (32)',
    tensorBytes('t', [8], 0, 8),
  ],
  ['tensor 0 "t" has unknown type 999', tensorBytes('t', [8], 999, 0)],
  [
    'tensor 0 "t" has the row length 33, which is not a multiple of 32, the block size of Q8_0',
    tensorBytes('t', [33], 8, 0),
  ],
  ['tensor 0 "t" has 5 dimensions; the maximum is 4', tensorBytes('t', [1, 1, 1, 1, 1], 0, 0)],
  [
    'a dimension of tensor 0 "t" is too large: 9223372036854775808',
    tensorBytes('t', [2n ** 63n], 0, 0),
  ],
  [
    'the number of elements of tensor 0 "t" is too large: 18446744073709552000',
    tensorBytes('t', [2 ** 32, 2 ** 32], 0, 0),
  ],
  ['the size of tensor 0 "t" is too large: 18014398509481984', tensorBytes('t', [2 ** 52], 0, 0)],
  [
    'the offset of tensor 0 "t" is too large: 9223372036854775808',
    tensorBytes('t', [8], 0, 2n ** 63n),
  ],
  [
    'the name of tensor 0 has 300 bytes; the maximum is 256',
    tensorBytes('n'.repeat(300), [8], 0, 0),
  ],
])('an invalid tensor is rejected: %s', async ([message, bytes]) => {
  expect(await findProblem({ tensors: 1 }, bytes.raw(nothing))).toBe(message)
})

test('tensors that overlap or share a name are rejected', async () => {
  const two = (first: string, second: string) =>
    tensorBytes(first, [16], 0, 0).raw(tensorBytes(second, [16], 0, 32).raw(nothing).toBytes())
  expect(await findProblem({ tensors: 2 }, two('a', 'b'))).toBe('tensors "a" and "b" overlap')
  expect(await findProblem({ tensors: 2 }, two('a', 'a'))).toBe('two tensors are named "a"')
})

test('metadata with a duplicate key, an empty key or an unknown type is rejected', async () => {
  const twice = new GgufBytes().string('k').value(1).string('k').value(2)
  expect(await findProblem({ entries: 2 }, twice)).toBe('the metadata contains "k" twice')
  const empty = new GgufBytes().string('').value(1).raw(nothing)
  expect(await findProblem({ entries: 1 }, empty)).toBe('key 0 is empty')
  const unknown = new GgufBytes().string('k').u32(13).raw(nothing)
  expect(await findProblem({ entries: 1 }, unknown)).toBe('"k" has unknown value type 13')
})

test('counts and lengths that exceed the file are rejected before anything is allocated', async () => {
  const rest = () => new GgufBytes().raw(nothing)
  expect(await findProblem({ tensors: 2n ** 60n }, rest())).toBe(
    'the number of tensors is 1152921504606846976, more than the remaining bytes can hold',
  )
  expect(await findProblem({ entries: 2n ** 60n }, rest())).toContain(
    'the number of metadata entries is',
  )
  const claim = (write: (bytes: GgufBytes) => void) => {
    const bytes = new GgufBytes().string('k')
    write(bytes)
    return findProblem({ entries: 1 }, bytes.raw(nothing))
  }
  expect(
    await claim((bytes) =>
      bytes
        .type('array')
        .type('u8')
        .u64(2n ** 40n),
    ),
  ).toBe('the number of elements of "k" is 1099511627776, more than the remaining bytes can hold')
  expect(await claim((bytes) => bytes.type('string').u64(2n ** 40n))).toContain(
    'the length of "k" is',
  )
  expect(
    await claim((bytes) =>
      bytes
        .type('array')
        .type('string')
        .u64(1)
        .u64(2n ** 40n),
    ),
  ).toContain('the length of a string in "k" is')
})

test('arrays that are nested too deeply or have too many inner arrays are rejected', async () => {
  const deep = new GgufBytes().string('k').type('array')
  for (let depth = 0; depth < 1000; depth += 1) deep.type('array').u64(1)
  expect(await findProblem({ entries: 1 }, deep)).toBe('"k" nests arrays more than 4 levels deep')
  const wide = new GgufBytes().string('k').type('array').type('array').u64(1_000_000)
  wide.raw(new Uint8Array(12_000_000))
  expect(await findProblem({ entries: 1 }, wide)).toBe('"k" has too many inner arrays')
})
