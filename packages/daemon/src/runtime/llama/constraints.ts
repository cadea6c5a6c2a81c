/** Decides what an answer may consist of: how its tokens are chosen, and which grammar applies to them. */
import type { AnswerSyntax } from '@shoal/grammar'
import type { LlamaGrammarEvaluationState, LlamaModel } from 'node-llama-cpp'
import { answerSyntax, callSchema, mayCall, optionalCalls } from '../chat/chat-prompt.ts'
import { type Generation, isForced, isPromptError, type Prompt, promptError } from '../runtime.ts'
import type { GrammarSource } from './grammar-converter.ts'
import type { ChatsFor } from './open-chats.ts'
import type { ReadPrompt } from './prompt-reader.ts'
import {
  type BeginGrammar,
  createEvaluation,
  type Evaluation,
  type GrammarFor,
} from './sampling.ts'

export type Constraints = {
  evaluation: Evaluation
  /** The grammar for calls that the model may make, if there is one. */
  calls: BeginGrammar | undefined
  /** Applies the grammar of the answer, if the answer must have a form or be a call. */
  state: LlamaGrammarEvaluationState | undefined
  /**
   * The grammar of the answer as text, without optional calls, if the answer must have a form. It does not include a
   * client's own grammar.
   */
  grammar: string | undefined
  /** Whether the answer must be a call. */
  isCall: boolean
}

/** Returns a function that resolves to an answer's constraints. It rejects with a prompt error if a schema is refused. */
export function answerConstraints(
  model: LlamaModel,
  { chatsFor, grammarFor }: { chatsFor: ChatsFor; grammarFor: GrammarFor },
) {
  function forcedCall(prompt: Prompt): object | undefined {
    if (!('chat' in prompt)) return undefined
    return isForced(prompt.chat) ? callSchema(prompt.chat, chatsFor(prompt).format) : undefined
  }

  /**
   * The grammar for calls that the model may make; undefined if no grammar can enforce the tools' schemas. Two features
   * also rule out a grammar: stop strings, because they delay the text that shows where a call begins, and log
   * probabilities, because `ownSampler` then chooses the tokens.
   */
  async function callGrammar({ prompt, stop, topLogprobs }: Generation) {
    if (!('chat' in prompt) || stop.length > 0 || topLogprobs !== undefined) return undefined
    const calls = optionalCalls(prompt.chat, chatsFor(prompt).format)
    if (calls === undefined) return undefined
    return grammarFor({ calls }, 'tool_refused').catch((error) => {
      if (isPromptError(error)) return undefined
      throw error
    })
  }

  return async (generation: Generation, { tokens, begun }: ReadPrompt): Promise<Constraints> => {
    const { sampling, prompt } = generation
    const call = forcedCall(prompt)
    const isCall = call !== undefined
    const form = call ? { param: 'tools', schema: call } : generation.form
    const calls = isCall ? undefined : await callGrammar(generation)
    const isBound = (form ?? calls) !== undefined
    const evaluation = createEvaluation(sampling, model, {
      ...{ promptTokens: tokens, isBound },
      mayForce: (generation.reasoningBudget ?? -1) >= 0,
    })
    if (!form) return { evaluation, calls, state: undefined, grammar: undefined, isCall }
    const { param, ...source } = form
    const grammarOf = (one: GrammarSource) =>
      grammarFor(one, isCall ? 'tool_refused' : 'schema_refused', param)
    if ('gbnf' in source) {
      if ('chat' in prompt && mayCall(prompt.chat)) throw grammarBesideTools(param)
      // `jsonCloser` reads only the part of GBNF that our own grammars use.
      const begin = await grammarOf(source)
      return { evaluation, calls: undefined, state: begin(), grammar: undefined, isCall }
    }
    const answer =
      'chat' in prompt
        ? answerSyntax(prompt.chat, chatsFor(prompt).format, { begun, form: source })
        : undefined
    const begin = await grammarOf(answer ? { answer } : source)
    const closed = answer ? await grammarOf({ answer: withoutCalls(answer) }) : begin
    return { evaluation, calls, state: begin(), grammar: closed.source, isCall }
  }
}

const withoutCalls = (answer: AnswerSyntax): AnswerSyntax => ({
  ...answer,
  ...{ calls: [], callsInReasoning: [], bareCall: undefined },
})

const grammarBesideTools = (param: string) =>
  promptError(
    'schema_refused',
    `${param} cannot be combined with tools that the model may call: set tool_choice to "none"`,
    { param },
  )
