import { seededRandom } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { makeGguf } from '../testing/make-gguf.ts'
import { parseGguf } from './gguf.ts'
import { extractFacts } from './gguf-facts.ts'

const original = makeGguf({
  metadata: {
    'general.architecture': 'llama',
    'general.alignment': 32,
    'llama.context_length': 4096,
    'llama.attention.head_count_kv': [4, 4, 2],
    'tokenizer.ggml.tokens': Array.from({ length: 300 }, (_, index) => `t${index}`),
    'tokenizer.ggml.scores': Array.from({ length: 300 }, (_, index) => index + 0.5),
    'tokenizer.chat_template': '{% for m in messages %}{{ m.content }}{% endfor %}',
    'split.count': { type: 'u16', value: 2 },
  },
  tensors: [
    { name: 'token_embd.weight', shape: [64, 300], type: 'Q8_0' },
    { name: 'blk.0.ffn_norm.weight', shape: [64], type: 'F32' },
    { name: 'output.weight', shape: [256, 4], type: 'Q4_K' },
  ],
})

const extremes = [
  0n,
  1n,
  0x7fff_ffffn,
  0xffff_ffffn,
  2n ** 32n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n - 1n,
]

/**
 * Returns a copy of the file with one to four changes, each of which overwrites a byte or a 64-bit number, truncates
 * the file, or inserts a byte.
 */
function mutate(random: (below: number) => number): Uint8Array {
  let file = original.slice()
  for (let changes = 1 + random(4); changes > 0 && file.length > 16; changes -= 1) {
    // Most changes are in the header, where they matter most.
    const place = random(Math.min(file.length - 8, random(4) === 0 ? file.length : 6000))
    const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
    const kind = random(8)
    if (kind < 4) file[place] = random(256)
    else if (kind < 6) view.setBigUint64(place, extremes[random(extremes.length)] ?? 0n, true)
    else if (kind === 6) file = file.slice(0, place)
    else file = new Uint8Array([...file.subarray(0, place), random(256), ...file.subarray(place)])
  }
  return file
}

test('each of two thousand damaged files is read in at most two parts, or rejected with a GGUF error', async () => {
  const random = seededRandom(20_251_121)
  let refused = 0
  for (let run = 0; run < 2000; run += 1) {
    const file = mutate(random)
    let reads = 0
    const read = async (offset: number, length: number) => {
      reads += 1
      return file.subarray(offset, offset + length)
    }
    try {
      JSON.stringify(extractFacts(await parseGguf(read, file.length), 'damaged.gguf'))
    } catch (error) {
      expect(error, `run ${run}`).toMatchObject({ code: 'invalid_gguf' })
      refused += 1
    }
    expect(reads, `run ${run}`).toBeLessThanOrEqual(2)
  }
  expect(refused).toBeGreaterThan(500)
  expect(refused).toBeLessThan(2000)
})
