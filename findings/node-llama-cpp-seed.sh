#!/bin/sh
# node-llama-cpp 3.21.1 (npm), Linux x64, Node 24: answers that are generated without a seed are the same if they are
# generated in the same second, even at a high temperature and in different sequences.
#
# The documentation says that the seed defaults to the current epoch time. The default is the number of whole seconds,
# and it is read again for each token: the random generator starts anew when the second changes. Requests that are
# handled together therefore get the same tokens until then, and a model that needs more than a second for a token
# draws each token with a new generator.
#
# The script writes a GGUF file with random weights, so that nearly all tokens are equally likely, and stops the clock.
# Output: how many different answers of 40 tokens there are among eight, within one second, with a second between
# them, and within one second with seeds; and how many tokens of an answer stay the same if the second changes after
# each token.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional \
  node-llama-cpp@3.21.1 @node-llama-cpp/linux-x64@3.21.1
cat >run.mjs <<'END'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { getLlama } from 'node-llama-cpp'

writeFileSync('tiny.gguf', tinyModel())
const options = { gpu: false, build: 'never', skipDownload: true, logLevel: 'error', maxThreads: 1 }
const llama = await getLlama(options)
const model = await llama.loadModel({ modelPath: 'tiny.gguf' })
const context = await model.createContext({ contextSize: 128, sequences: 8, threads: 1 })

let now = 1_700_000_000_000
Date.now = () => now

async function answer(seed, secondsPerToken = 0) {
  const sequence = context.getSequence()
  const tokens = []
  for await (const token of sequence.evaluate([1, 10], { temperature: 2, topK: 0, topP: 1, seed })) {
    tokens.push(token)
    now += secondsPerToken * 1_000
    if (tokens.length === 40) break
  }
  sequence.dispose()
  return tokens
}

async function count(secondsBetween, toSeed) {
  const answers = new Set()
  for (let index = 0; index < 8; index += 1) {
    answers.add((await answer(toSeed(index))).join())
    now += secondsBetween * 1_000
  }
  return answers.size
}
console.log(`same second: ${await count(0, () => undefined)}`)
console.log(`different seconds: ${await count(1, () => undefined)}`)
console.log(`same second, with seeds: ${await count(0, (index) => index)}`)
const started = now
const still = await answer(undefined)
now = started
const moving = await answer(undefined, 1)
const common = moving.findIndex((token, index) => token !== still[index])
console.log(`tokens before the clock matters: ${common}`)
await llama.dispose()

/** A model of the architecture llama with one layer, random weights and one token for each byte. */
function tinyModel() {
  const [width, hidden] = [32, 64]
  const tokens = ['<unk>', '<s>', '</s>']
  for (let byte = 0; byte < 256; byte += 1)
    tokens.push(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)
  const u32 = (value) => Buffer.from(Uint32Array.of(value).buffer)
  const u64 = (value) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer)
  const f32 = (value) => Buffer.from(Float32Array.of(value).buffer)
  const text = (value) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)])
  const list = (type, values, write) => [u32(9), u32(type), u64(values.length), ...values.map(write)]
  const number = (value) => [u32(4), u32(value)]
  const metadata = {
    'general.architecture': [u32(8), text('llama')],
    'llama.context_length': number(128),
    'llama.embedding_length': number(width),
    'llama.block_count': number(1),
    'llama.feed_forward_length': number(hidden),
    'llama.attention.head_count': number(2),
    'llama.attention.layer_norm_rms_epsilon': [u32(6), f32(1e-5)],
    'llama.rope.dimension_count': number(width / 2),
    'tokenizer.ggml.model': [u32(8), text('llama')],
    'tokenizer.ggml.tokens': list(8, tokens, text),
    'tokenizer.ggml.scores': list(6, tokens, () => f32(0)),
    'tokenizer.ggml.token_type': list(5, tokens, (_, at) => u32(at === 0 ? 2 : at < 3 ? 3 : 6)),
  }
  const tensors = Object.entries({
    'token_embd.weight': [width, tokens.length],
    'output_norm.weight': [width],
    'output.weight': [width, tokens.length],
    'blk.0.attn_norm.weight': [width],
    'blk.0.attn_q.weight': [width, width],
    'blk.0.attn_k.weight': [width, width],
    'blk.0.attn_v.weight': [width, width],
    'blk.0.attn_output.weight': [width, width],
    'blk.0.ffn_norm.weight': [width],
    'blk.0.ffn_gate.weight': [width, hidden],
    'blk.0.ffn_up.weight': [width, hidden],
    'blk.0.ffn_down.weight': [hidden, width],
  })
  let offset = 0
  const headers = []
  const data = []
  for (const [name, shape] of tensors) {
    const size = 4 * shape.reduce((product, length) => product * length, 1)
    headers.push(text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset))
    const values = createHash('shake256', { outputLength: size / 4 }).update(name).digest()
    data.push(Buffer.from(Float32Array.from(values, (byte) => (byte - 127.5) / 400).buffer))
    offset += size // a multiple of 32, to which GGUF aligns tensors
  }
  const pairs = Object.entries(metadata).flatMap(([key, value]) => [text(key), ...value])
  const header = Buffer.concat([
    ...[Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(Object.keys(metadata).length)],
    ...pairs,
    ...headers,
  ])
  return Buffer.concat([header, Buffer.alloc((32 - (header.length % 32)) % 32), ...data])
}
END
node run.mjs >found
cat found
printf 'same second: 1\ndifferent seconds: 8\nsame second, with seeds: 8\ntokens before the clock matters: 1\n' | diff - found
