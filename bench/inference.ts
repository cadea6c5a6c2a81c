import { copyFile, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { computeMemory, extractFacts, readGgufFile } from '@shoal/model-file'
import { demoModel, writeSyntheticModel } from '@shoal/model-file/testing/synthetic-model'
import type { PromptCostAnswer, PromptCostInput } from './children/prompt-cost.ts'
import type { RawAnswer, RawInput } from './children/raw-llama.ts'
import { type Bench, type BenchOptions, isWanted } from './harness/bench.ts'
import { buildLlamaServer } from './harness/build-llama-server.ts'
import { startDaemon } from './harness/daemon.ts'
import { findLlamaServer, type InferenceServer, startLlamaServer } from './harness/llama-server.ts'
import { digits, median, megabytes } from './harness/numbers.ts'
import { processTree, readCpuSeconds, readMemoryShare } from './harness/process-usage.ts'
import type { Report } from './harness/report.ts'
import { inTurns } from './harness/rounds.ts'
import { runScript } from './harness/script.ts'
import { temporaryFolder } from './harness/temporary-folder.ts'
import { measureFirstToken, measureStreams } from './harness/token-load.ts'

/** The demo model's end-of-generation tokens, which are excluded so that all responses have the requested length. */
const neverTokens = [0, 1, 2]
/** The number of slots of each server, which is the maximum number of concurrent streams. */
const slots = 8
const streamCounts = [1, 4, slots]
/** The context length of the synthetic models. */
const contextTokens = 2048

type Subject = { name: string; path: string; contextLength: number; completionTokens: number }

export const bench: Bench = {
  summary: 'tokens per second, time to first token, CPU and memory, against bare llama.cpp',

  async run(options, report) {
    using folder = temporaryFolder()
    const models = join(folder.path, 'models')
    const subjects: Subject[] = []
    if (isWanted(options, 'tiny')) {
      const path = join(models, 'tiny/tiny-Q8_0.gguf')
      await mkdir(join(models, 'tiny'), { recursive: true })
      await copyFile(demoModel, path)
      subjects.push({ name: 'tiny', path, contextLength: 512, completionTokens: 400 })
    }
    for (const type of ['Q4_0', 'Q8_0'] as const) {
      const name = `100m-${type}`
      if (!isWanted(options, name)) continue
      const path = join(models, name, `${name}.gguf`)
      await writeSyntheticModel(path, type)
      subjects.push({ name, path, contextLength: contextTokens, completionTokens: 128 })
    }
    if (options.buildsLlamaServer) await buildLlamaServer(report.say)
    for (const subject of subjects) await measure({ ...subject, models }, options, report)
    if (isWanted(options, 'logprobs')) await reportLogprobs(models, options, report)
    if (isWanted(options, 'prompts')) await reportPrompts(models, options, report)
  },
}

async function measure(
  subject: Subject & { models: string },
  options: BenchOptions,
  report: Report,
) {
  const { name, path, contextLength, completionTokens, models } = subject
  const { threads } = options
  const promptTokens = Math.min(400, contextLength / 2)
  report.title(`inference: ${name}, ${megabytes((await stat(path)).size)} MB, --threads ${threads}`)
  await using daemon = await startDaemon({ models, threads, contextLength, slots })
  const servers: Record<string, InferenceServer> = { shoal: daemon }
  const llamaServer = findLlamaServer()
  await using other = llamaServer
    ? await startLlamaServer(llamaServer, { path, threads, contextLength, slots })
    : undefined
  if (other) servers['llama-server'] = other

  const load = { model: name, completionTokens, neverTokens }
  for (const { url } of Object.values(servers)) {
    await measureStreams(url, { ...load, completionTokens: 4 }, slots)
  }
  const rawInput: RawInput = {
    modelPath: path,
    threads,
    contextLength,
    promptTokens,
    completionTokens,
    neverTokens,
  }
  const raw = () => runScript<RawAnswer>('raw-llama', rawInput)
  const streams = (server: InferenceServer, count: number) => async () => {
    const before = sumCpuSeconds(server)
    const tokensPerSecond = await measureStreams(server.url, load, count)
    const cpuSeconds = sumCpuSeconds(server) - before
    return { tokensPerSecond, cpuMsPerToken: (cpuSeconds * 1000) / (count * completionTokens) }
  }
  const variants: Record<
    string,
    () => Promise<{ tokensPerSecond: number; cpuMsPerToken: number }>
  > = { 'evaluate, 1': raw }
  for (const [side, server] of Object.entries(servers)) {
    for (const count of streamCounts) variants[`${side}, ${count}`] = streams(server, count)
  }
  const rounds = await inTurns(options.rounds, variants)
  const getMedian = (side: string, field: 'tokensPerSecond' | 'cpuMsPerToken') =>
    median((rounds[side] ?? []).map((one) => one[field]))
  report.table(
    [
      'side, streams',
      'tokens/s',
      '× evaluate',
      '× one stream',
      '× llama-server (goal ≥ 0.98; demo model ≥ 0.85)',
      'CPU ms/token',
    ],
    Object.keys(variants).map((side) => [
      side,
      digits(getMedian(side, 'tokensPerSecond')),
      (getMedian(side, 'tokensPerSecond') / getMedian('evaluate, 1', 'tokensPerSecond')).toFixed(2),
      (
        getMedian(side, 'tokensPerSecond') / getMedian(side.replace(/\d$/, '1'), 'tokensPerSecond')
      ).toFixed(2),
      (
        getMedian(side, 'tokensPerSecond') /
        getMedian(side.replace('shoal', 'llama-server'), 'tokensPerSecond')
      ).toFixed(2),
      digits(getMedian(side, 'cpuMsPerToken')),
    ]),
  )

  await reportFirstToken({ runRaw: raw, servers, model: name, promptTokens }, options, report)
  await reportMemory(subject, servers, report)
}

type FirstToken = {
  runRaw: () => Promise<RawAnswer>
  servers: Record<string, InferenceServer>
  model: string
  promptTokens: number
}

async function reportFirstToken(
  { runRaw, servers, model, promptTokens }: FirstToken,
  { rounds }: BenchOptions,
  report: Report,
) {
  let turn = 0
  type Times = { headers: number; cold: number; cached: number }
  const variants: Record<string, () => Promise<Times>> = {
    async evaluate() {
      const { coldFirstTokenMs, cachedFirstTokenMs } = await runRaw()
      return { headers: Number.NaN, cold: coldFirstTokenMs, cached: cachedFirstTokenMs }
    },
  }
  for (const [side, { url }] of Object.entries(servers)) {
    variants[side] = async () => {
      turn += 1
      // Each prompt begins differently, so that none of its tokens are cached.
      const prompt = Array.from(
        { length: promptTokens },
        (_, index) => 100 + ((index + turn * 7) % 900),
      )
      const cold = await measureFirstToken(url, { model, prompt, neverTokens })
      const cached = await measureFirstToken(url, { model, prompt, neverTokens })
      return { headers: cold.headersMs, cold: cold.tokenMs, cached: cached.tokenMs }
    }
  }
  const results = await inTurns(rounds, variants)
  const getMedian = (side: string, field: keyof Times) =>
    median((results[side] ?? []).map((one) => one[field]))
  report.table(
    [
      `first token after ${promptTokens} prompt tokens`,
      'headers, prompt not cached, ms (goal ≤ 50)',
      'prompt not cached, ms',
      'prompt cached, ms',
      'prompt cached, minus evaluate, ms (goal ≤ 30)',
    ],
    Object.keys(variants).map((side) => [
      side,
      Number.isNaN(getMedian(side, 'headers')) ? '' : digits(getMedian(side, 'headers')),
      digits(getMedian(side, 'cold')),
      digits(getMedian(side, 'cached')),
      digits(Math.max(0, getMedian(side, 'cached') - getMedian('evaluate', 'cached'))),
    ]),
  )
}

async function reportMemory(
  { path, contextLength }: Subject,
  servers: Record<string, InferenceServer>,
  report: Report,
) {
  const weightBytes = (await stat(path)).size
  const facts = extractFacts(await readGgufFile(path), path)
  const need = computeMemory(facts, { weightBytes, contextLength, conversations: slots })
  const readMemory = (side: string) =>
    processTree(servers[side]?.pid ?? 0).map((one) => readMemoryShare(one) ?? Number.NaN)
  const [own = 0, ...others] = readMemory('shoal')
  const model = addUp(others)
  const ofTheModel = need.weightBytes + need.cacheBytes
  report.table(
    ['memory', 'MB'],
    [
      ['weights', megabytes(need.weightBytes)],
      [`keys and values of ${slots} × ${contextLength} tokens`, megabytes(need.cacheBytes)],
      ['model process', megabytes(model)],
      [
        'model process without weights, keys and values (goal ≤ 120)',
        megabytes(model - ofTheModel),
      ],
      ['estimate before loading', megabytes(need.totalBytes)],
      ['daemon process', megabytes(own)],
      ...(servers['llama-server'] === undefined
        ? []
        : [['llama-server', megabytes(addUp(readMemory('llama-server')))]]),
    ],
  )
}

const addUp = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0)

/** The size of the vocabulary of Qwen 2.5. */
const vocabularySize = 151_936

/** Measures the cost of log probabilities with a large vocabulary: the CPU time per token with and without them. */
async function reportLogprobs(models: string, options: BenchOptions, report: Report) {
  const name = '100m-large-vocabulary'
  const path = join(models, name, `${name}.gguf`)
  await writeSyntheticModel(path, 'Q8_0', { vocabularySize })
  report.title(`inference: log probabilities with a vocabulary of ${vocabularySize} tokens`)
  const { threads } = options
  const settings = { models, threads, contextLength: contextTokens, slots: 1 }
  await using server = await startDaemon(settings)
  const load = { model: name, completionTokens: 64, neverTokens }
  const measureCpuMs = (logprobs?: number) => async () => {
    const before = sumCpuSeconds(server)
    await measureStreams(server.url, { ...load, ...(logprobs !== undefined && { logprobs }) }, 1)
    return ((sumCpuSeconds(server) - before) * 1000) / load.completionTokens
  }
  await measureCpuMs()() // loads the model
  const rounds = await inTurns(options.rounds, {
    without: measureCpuMs(),
    'with 5 alternatives': measureCpuMs(5),
  })
  const without = median(rounds.without ?? [])
  report.table(
    ['log probabilities', 'CPU ms/token', '× without (goal ≤ 1.5)'],
    Object.entries(rounds).map(([side, measured]) => [
      side,
      digits(median(measured)),
      (median(measured) / without).toFixed(2),
    ]),
  )
}

/** The number of tokens in a long prompt. */
const longPrompt = 30_000

/** Measures the cost of keeping the values in a long chat apart from the template's own text. */
async function reportPrompts(models: string, { threads, rounds }: BenchOptions, report: Report) {
  const name = '100m-Q4_0'
  const modelPath = join(models, name, `${name}.gguf`)
  await writeSyntheticModel(modelPath, 'Q4_0')
  report.title(`inference: a chat of ${longPrompt} tokens is rendered and tokenized`)
  const input: PromptCostInput = { modelPath, threads, tokens: longPrompt, rounds: rounds * 5 }
  const { readMs, ...times } = await runScript<PromptCostAnswer>('prompt-cost', input)
  const without = median(times.without)
  report.table(
    ['values', 'ms', 'more than without protection, % of the time to read the prompt (goal ≤ 2)'],
    [
      ['not protected', digits(without), ''],
      ...(['protected', 'forged'] as const).map((side) => [
        side === 'forged' ? 'protected, with control tokens in each message' : side,
        digits(median(times[side])),
        (((median(times[side]) - without) / readMs) * 100).toFixed(3),
      ]),
      ['reading the prompt', digits(readMs), ''],
    ],
  )
}

const sumCpuSeconds = ({ pid }: InferenceServer) =>
  processTree(pid).reduce((sum, one) => sum + (readCpuSeconds(one) ?? 0), 0)
