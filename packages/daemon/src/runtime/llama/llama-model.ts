/** llama.cpp in this process. Runs in the child alone: a crash of native code ends the process that it is in. */
import { Template } from '@huggingface/jinja'
import {
  getLlama,
  type LlamaContextSequence,
  type LlamaGrammar,
  LlamaGrammarEvaluationState,
  LlamaLogLevel,
  type LlamaModel,
  type SequenceEvaluateOptions,
  type Token,
  TokenBias,
} from 'node-llama-cpp'
import { batchTogether } from './batch-together.ts'
import { jsonEnd } from './json-end.ts'
import {
  type Finish,
  type Generation,
  type ModelFacts,
  type Piece,
  type Prompt,
  PromptError,
  type RuntimeOptions,
  type TokenLogprob,
} from './runtime.ts'
import { commonLength, slots as newSlots, type Slot } from './slots.ts'
import { stopStrings } from './stop-strings.ts'
import { tokenText } from './token-text.ts'

/** A long prompt is read so many tokens at a time, and given up between two of them. */
const readAtOnce = 512

/** Loads a model. Nothing is ever built or downloaded for that. */
export async function openLlamaModel(options: RuntimeOptions) {
  const { modelPath, contextLength, threads } = options
  const llama = await getLlama({
    build: 'never',
    skipDownload: true,
    gpu: 'auto',
    logLevel: LlamaLogLevel.error,
    progressLogs: false,
    maxThreads: threads,
  })
  const model = await llama.loadModel({ modelPath })
  const context = await model.createContext({
    contextSize: contextLength,
    sequences: options.slots,
    threads,
    batchSize: Math.min(readAtOnce, contextLength),
    batching: { itemPrioritizationStrategy: batchTogether(() => generating) },
  })
  const slots = newSlots(Array.from({ length: options.slots }, () => context.getSequence()))
  const templateText = templateOf(model)
  const template = templateText === undefined ? undefined : new Template(templateText)
  const grammars = new Map<string, Promise<LlamaGrammar>>()
  /** Conversations that will ask for another token. */
  let generating = 0

  const facts: ModelFacts = {
    contextLength: Math.min(contextLength, context.contextSize),
    slots: options.slots,
    chatTemplate: templateText,
  }

  function promptTokens(prompt: Prompt): Token[] {
    const tokens = 'text' in prompt ? model.tokenize(prompt.text) : chatTokens(prompt)
    const { bos, shouldPrependBosToken } = model.tokens
    if (shouldPrependBosToken && bos !== null && tokens[0] !== bos) tokens.unshift(bos)
    return tokens
  }

  function chatTokens({ messages, tools, variables }: Exclude<Prompt, { text: string }>) {
    if (!template) throw new PromptError('template_failed', 'this model has no chat template')
    try {
      const text = template.render({
        ...variables,
        messages,
        ...(tools && { tools }),
        add_generation_prompt: true,
        bos_token: model.tokens.bosString ?? '',
        eos_token: model.tokens.eosString ?? '',
      })
      return model.tokenize(text, true)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      throw new PromptError('template_failed', `the model's chat template says: ${message}`)
    }
  }

  async function* generate(
    generation: Generation,
    signal: AbortSignal,
  ): AsyncGenerator<Piece, Finish> {
    const tokens = promptTokens(generation.prompt)
    const room = facts.contextLength - tokens.length
    if (room < 1) {
      throw new PromptError(
        'context_length_exceeded',
        `the prompt has ${tokens.length} tokens, and the context of this model ${facts.contextLength}`,
      )
    }
    const evaluation = await evaluationFor(generation)
    const slot = await slots.take(tokens, signal)
    try {
      return yield* generateIn(slot, tokens, { generation, evaluation, room, signal })
    } finally {
      slots.release(slot)
    }
  }

  type Run = {
    generation: Generation
    evaluation: SequenceEvaluateOptions & { generated: Token[] }
    room: number
    signal: AbortSignal
  }

  async function* generateIn(
    slot: Slot,
    tokens: Token[],
    { generation, evaluation, room, signal }: Run,
  ): AsyncGenerator<Piece, Finish> {
    const startedAt = performance.now()
    const { sequence } = slot
    const cachedTokens = await forgetFrom(slot, tokens)
    const unread = await readAhead(sequence, tokens.slice(cachedTokens), signal)
    const wants = { probabilities: generation.topLogprobs !== undefined } as { probabilities: true }
    const steps = sequence.evaluateWithMetadata(unread, wants, evaluation)

    const most = Math.min(generation.maxTokens ?? Number.POSITIVE_INFINITY, room)
    const text = tokenText((some, before) =>
      model.detokenize(some as Token[], false, before as Token[]),
    )
    const stops = stopStrings(generation.stop)
    const json = generation.json === undefined ? undefined : jsonEnd()
    let completionTokens = 0
    let firstTokenMs = 0
    let reason: Finish['reason'] = 'stop'
    generating += 1
    try {
      for (;;) {
        if (completionTokens === most) {
          reason = 'length'
          break
        }
        const step = await steps.next()
        signal.throwIfAborted()
        if (step.done) break
        if (completionTokens === 0) firstTokenMs = performance.now() - startedAt
        completionTokens += 1
        const { token, probabilities } = step.value
        evaluation.generated.push(token)
        const given = stops.take(text.take(token))
        const logprobs = probabilities && [
          logprobsOf(token, probabilities, generation.topLogprobs ?? 0),
        ]
        if (given !== '' || logprobs) yield { text: given, ...(logprobs && { logprobs }) }
        if (stops.isStopped() || json?.isOver(given)) break
      }
      const rest = stops.take(text.finish()) + (stops.isStopped() ? '' : stops.finish())
      if (rest !== '') yield { text: rest }
    } finally {
      generating -= 1
      await steps.return()
    }
    const generationMs = performance.now() - startedAt
    const promptTokens = tokens.length
    return { reason, promptTokens, cachedTokens, completionTokens, firstTokenMs, generationMs }
  }

  /** Takes from the slot what is not the beginning of these tokens. Answers how many it keeps. */
  async function forgetFrom(slot: Slot, tokens: Token[]): Promise<number> {
    const { sequence } = slot
    const common = commonLength(slot, tokens)
    if (common < sequence.nextTokenIndex) {
      await sequence.adaptStateToTokens(tokens.slice(0, common), false)
    }
    return sequence.nextTokenIndex
  }

  /** Reads a prompt but for its end, in parts, so that nobody waits long for a request that was cancelled. */
  async function readAhead(sequence: LlamaContextSequence, tokens: Token[], signal: AbortSignal) {
    let rest = tokens
    while (rest.length > readAtOnce) {
      generating += 1
      try {
        await sequence.evaluateWithoutGeneratingNewTokens(rest.slice(0, readAtOnce))
      } finally {
        generating -= 1
      }
      signal.throwIfAborted()
      rest = rest.slice(readAtOnce)
    }
    return rest
  }

  async function evaluationFor({ sampling, json }: Generation) {
    const generated: Token[] = []
    const { presencePenalty, frequencyPenalty, logitBias } = sampling
    const evaluation: SequenceEvaluateOptions & { generated: Token[] } = {
      generated,
      temperature: sampling.temperature,
      topP: sampling.topP,
      topK: sampling.topK,
      minP: sampling.minP,
    }
    if (sampling.seed !== undefined) evaluation.seed = sampling.seed
    if (presencePenalty !== 0 || frequencyPenalty !== 0) {
      const punishTokens = () => generated
      evaluation.repeatPenalty = { punishTokens, penalty: 1, presencePenalty, frequencyPenalty }
    }
    if (logitBias.length > 0) {
      const bias = TokenBias.for(model)
      for (const [token, logit] of logitBias) {
        bias.set(token as Token, logit <= -100 ? 'never' : { logit })
      }
      evaluation.tokenBias = bias
    }
    if (json !== undefined) {
      const grammar = await grammarOf(json)
      evaluation.grammarEvaluationState = new LlamaGrammarEvaluationState({ model, grammar })
    }
    return evaluation
  }

  function grammarOf(json: true | object): Promise<LlamaGrammar> {
    const key = JSON.stringify(json)
    let grammar = grammars.get(key)
    if (!grammar) {
      grammar =
        json === true
          ? llama.getGrammarFor('json')
          : llama.createGrammarForJsonSchema(json as never).catch((error) => {
              grammars.delete(key)
              throw new PromptError('schema_refused', `this JSON schema: ${error.message}`)
            })
      grammars.set(key, grammar)
      if (grammars.size > grammarsKept) grammars.delete(grammars.keys().next().value ?? '')
    }
    return grammar
  }

  function logprobsOf(token: Token, probabilities: Map<Token, number>, topCount: number) {
    const of = (one: Token): TokenLogprob => {
      const text = model.detokenize([one], true)
      const logprob = Math.log(probabilities.get(one) ?? 0)
      return {
        token: text,
        logprob: Math.max(logprob, lowestLogprob),
        bytes: [...Buffer.from(text)],
      }
    }
    return { ...of(token), top_logprobs: [...probabilities.keys()].slice(0, topCount).map(of) }
  }

  return {
    facts,
    generate,
  }
}

const grammarsKept = 50
/** What JSON can say in place of minus infinity; OpenAI's API does the same. */
const lowestLogprob = -9999

function templateOf(model: LlamaModel): string | undefined {
  const template = model.fileInfo.metadata.tokenizer?.chat_template
  return typeof template === 'string' ? template : undefined
}
