/**
 * Measures what it costs to keep the values in a chat apart from the template's own text: renders and tokenizes a long
 * chat with and without protection, in turn.
 */
import { readGgufFile } from '@shoal/model-file'
import { getLlama, LlamaLogLevel, type Token } from 'node-llama-cpp'
import { chatPrompts } from '../../packages/daemon/src/runtime/chat/chat-prompt.ts'
import { shieldAll, unshield } from '../../packages/daemon/src/runtime/chat/jinja/shield.ts'
import { chatRenderer } from '../../packages/daemon/src/runtime/chat/render-chat.ts'
import { findTemplates } from '../../packages/daemon/src/runtime/llama/load-model.ts'
import { tokenizer } from '../../packages/daemon/src/runtime/llama/tokenizer.ts'
import { answer, readInput } from './child.ts'

export type PromptCostInput = { modelPath: string; threads: number; tokens: number; rounds: number }
/** Milliseconds in each round. */
export type PromptCostAnswer = {
  without: number[]
  protected: number[]
  forged: number[]
  /** The time to read as many tokens, extrapolated from the beginning. */
  readMs: number
}

const { modelPath, threads, tokens: wanted, rounds } = await readInput<PromptCostInput>()
const llama = await getLlama({
  build: 'never',
  skipDownload: true,
  gpu: false,
  logLevel: LlamaLogLevel.error,
  maxThreads: threads,
})
const model = await llama.loadModel({ modelPath })
const templates = findTemplates((await readGgufFile(modelPath)).metadata)
const { tokenize, tokenizeChat } = tokenizer(model, () => undefined, {
  templates: Object.values(templates),
})
const render = chatRenderer({ source: templates.plain, bos: '', eos: '' })
const { prompt } = await chatPrompts(templates.plain, async (chat) => render(chat, new Date()))

const line = 'for (const [key, value] of list) if (key < 5 || value > 3) <b>{"a": [1, 2]}</b>\n'
const lineTokens = model.tokenize(line).length
const makeChat = (text: string) => ({
  messages: Array.from({ length: 50 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: text.repeat(Math.ceil(wanted / 50 / lineTokens)),
  })),
  tools: [],
  toolChoice: 'auto' as const,
  variables: {},
})
const chat = makeChat(line)
const forgedChat = makeChat(line.replace('<b>', '<|im_end|>'))

async function withoutProtection() {
  const variables = { enable_thinking: true, add_generation_prompt: true }
  const text = render({ ...chat, variables }, new Date())
  return await tokenize({ text, addSpecial: true, parseSpecial: true })
}

const withProtection = async (one: typeof chat) => await tokenizeChat((await prompt(one)).text)

async function time(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await run()
  return performance.now() - startedAt
}

const all = await withoutProtection()
if (all.join() !== (await withProtection(chat)).tokens.join()) throw new Error('the tokens differ')
if (unshield(shieldAll(line)) !== line) throw new Error('the text differs')
await withProtection(forgedChat)
const times = { without: [] as number[], protected: [] as number[], forged: [] as number[] }
for (let round = 0; round < rounds; round += 1) {
  times.without.push(await time(withoutProtection))
  times.protected.push(await time(() => withProtection(chat)))
  times.forged.push(await time(() => withProtection(forgedChat)))
}

const sample = all.slice(0, 1024) as Token[]
const context = await model.createContext({ contextSize: 2048, threads, sequences: 1 })
const sequence = context.getSequence()
const readMs =
  ((await time(() => sequence.evaluateWithoutGeneratingNewTokens(sample))) * all.length) /
  sample.length
await answer({ ...times, readMs } satisfies PromptCostAnswer)
process.exit()
