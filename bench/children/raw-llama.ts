/** Runs only node-llama-cpp's `evaluate` in one process, to measure the maximum speed of a model on this machine. */
import { getLlama, LlamaLogLevel, type Token, TokenBias } from 'node-llama-cpp'
import { answer, readInput } from './child.ts'

export type RawInput = {
  modelPath: string
  threads: number
  contextLength: number
  promptTokens: number
  completionTokens: number
  neverTokens: number[]
}

export type RawAnswer = {
  tokensPerSecond: number
  cpuMsPerToken: number
  coldFirstTokenMs: number
  cachedFirstTokenMs: number
}

const input = await readInput<RawInput>()
const { modelPath, threads, contextLength, completionTokens } = input
const llama = await getLlama({
  build: 'never',
  skipDownload: true,
  gpu: false,
  logLevel: LlamaLogLevel.error,
  maxThreads: threads,
})
const model = await llama.loadModel({ modelPath })
const context = await model.createContext({ contextSize: contextLength, threads, sequences: 1 })
const sequence = context.getSequence()
const tokenBias = TokenBias.for(model)
// Sets a private member, because the library's own `set` ignores end-of-generation tokens.
const { _biases } = tokenBias as unknown as { _biases: Map<number, number> }
for (const token of input.neverTokens) _biases.set(token, Number.NEGATIVE_INFINITY)
const prompt = Array.from({ length: input.promptTokens }, (_, index) => (100 + index) as Token)

async function firstToken(tokens: Token[]): Promise<number> {
  const startedAt = performance.now()
  for await (const _ of sequence.evaluate(tokens, { temperature: 0, tokenBias })) break
  return performance.now() - startedAt
}

await firstToken(prompt) // warm-up
await sequence.clearHistory()
const coldFirstTokenMs = await firstToken(prompt)
await sequence.adaptStateToTokens(prompt.slice(0, -1), false)
const cachedFirstTokenMs = await firstToken(prompt.slice(-1))

await sequence.clearHistory()
const cpuBefore = process.cpuUsage()
const startedAt = performance.now()
let count = 0
for await (const _ of sequence.evaluate(prompt.slice(0, 8), { temperature: 0, tokenBias })) {
  count += 1
  if (count === completionTokens) break
}
const seconds = (performance.now() - startedAt) / 1000
const { user, system } = process.cpuUsage(cpuBefore)
await answer({
  tokensPerSecond: count / seconds,
  cpuMsPerToken: (user + system) / 1000 / count,
  coldFirstTokenMs,
  cachedFirstTokenMs,
} satisfies RawAnswer)
process.exit()
