/** Decides what an answer may consist of: how its tokens are chosen, and which grammar applies to them. */
import type { LlamaModel, Token } from 'node-llama-cpp'
import { callSchema, optionalCalls } from '../chat/chat-prompt.ts'
import { type Generation, isForced, isPromptError, type Prompt } from '../runtime.ts'
import type { ChatsFor } from './open-chats.ts'
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
  /** The grammar of the answer, if the entire answer must have a form. It does not include a client's own grammar. */
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

  return async (generation: Generation, promptTokens: readonly Token[]): Promise<Constraints> => {
    const { sampling, prompt } = generation
    const call = forcedCall(prompt)
    const isCall = call !== undefined
    const form = call ? { param: 'tools', schema: call } : generation.form
    const calls = form ? undefined : await callGrammar(generation)
    const isBound = (form ?? calls) !== undefined
    const evaluation = createEvaluation(sampling, model, { promptTokens, isBound })
    if (!form) return { evaluation, calls, grammar: undefined, isCall }
    const { param, ...source } = form
    const begin = await grammarFor(source, isCall ? 'tool_refused' : 'schema_refused', param)
    evaluation.grammarEvaluationState = begin()
    // `jsonCloser` reads only the part of GBNF that our own grammars use.
    const grammar = 'gbnf' in source ? undefined : begin.source
    return { evaluation, calls, grammar, isCall }
  }
}
