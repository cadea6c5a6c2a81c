#!/bin/sh
# node-llama-cpp 3.21.1 (npm), Linux x64, Node 24: the DRY penalty has no effect with its default number of tokens.
#
# `dryRepeatPenalty.lastTokens` defaults to null, which the documentation describes as the entire history of tokens. The
# answer is then the same as without the penalty. With a number, which may be larger than the context, the penalty works.
#
# The script writes a GGUF file with random weights. Greedy answers of this model repeat the same tokens again and again.
# Output: how many different groups of four tokens there are in an answer of 100 tokens, for each setting.
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
const context = await model.createContext({ contextSize: 128, threads: 1 })

async function countGroups(dryRepeatPenalty) {
  const sequence = context.getSequence()
  const tokens = []
  for await (const token of sequence.evaluate([1, 10], { temperature: 0, dryRepeatPenalty })) {
    tokens.push(token)
    if (tokens.length === 100) break
  }
  sequence.dispose()
  return new Set(tokens.slice(3).map((_, at) => tokens.slice(at, at + 4).join())).size
}
const strength = { strength: 5, base: 2, allowedLength: 2, sequenceBreakers: [] }
console.log(`no penalty: ${await countGroups(undefined)}`)
console.log(`default: ${await countGroups(strength)}`)
console.log(`null: ${await countGroups({ ...strength, lastTokens: null })}`)
console.log(`1000: ${await countGroups({ ...strength, lastTokens: 1000 })}`)
await llama.dispose()
END
node run.mjs >found
cat found
printf 'no penalty: 27\ndefault: 27\nnull: 27\n1000: 97\n' | diff - found
