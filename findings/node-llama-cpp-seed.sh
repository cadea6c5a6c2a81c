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
findings=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
cp "$findings/tiny-model.mjs" .
npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional \
  node-llama-cpp@3.21.1 @node-llama-cpp/linux-x64@3.21.1
cat >run.mjs <<'END'
import { writeFileSync } from 'node:fs'
import { getLlama } from 'node-llama-cpp'
import { tinyModel } from './tiny-model.mjs'

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
END
node run.mjs >found
cat found
printf 'same second: 1\ndifferent seconds: 8\nsame second, with seeds: 8\ntokens before the clock matters: 1\n' | diff - found
