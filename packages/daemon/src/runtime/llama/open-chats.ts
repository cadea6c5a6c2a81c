import type { LlamaModel, Token } from 'node-llama-cpp'
import { type ChatPrompts, chatPrompts } from '../chat/chat-prompt.ts'
import type { AnswerFormat } from '../chat/formats/answer-format.ts'
import { renderHere } from '../chat/render-here.ts'
import type { Prompt } from '../runtime.ts'
import type { ChatTemplates } from './load-model.ts'

/**
 * How a model's chats are rendered and its answers are parsed. `markers` contains the tokens of the format's markers.
 */
export type Chats = ChatPrompts & { markers: Set<Token> }

/** Returns the `Chats` for a prompt. They differ if the model has a second template, for chats with tools. */
export type ChatsFor = (prompt: Prompt) => Chats

export async function openChats(
  model: LlamaModel,
  { plain, toolUse }: ChatTemplates,
): Promise<ChatsFor> {
  const { bosString, eosString } = model.tokens

  async function open(template: string): Promise<Chats> {
    const render = renderHere({ source: template, bos: bosString ?? '', eos: eosString ?? '' })
    const chats = await chatPrompts(template, render)
    return { ...chats, markers: markerTokens(model, chats.format) }
  }

  const withoutTools = await open(plain)
  const withTools = toolUse && toolUse !== plain ? await open(toolUse) : withoutTools
  return (prompt) => ('chat' in prompt && prompt.chat.tools.length > 0 ? withTools : withoutTools)
}

/** The tokens of the format's markers. If a marker consists of several tokens, only its control tokens are included. */
function markerTokens(model: LlamaModel, { reasoning, content, calls }: AnswerFormat) {
  const { open = '', close = '', begin = '', end = '' } = reasoning ?? {}
  const inContent = content ? [content.open, content.close] : []
  const inCalls = [...calls.opens, ...calls.closes, calls.opening, calls.example]
  const marks = [open, close, begin, end, ...inContent, ...inCalls].filter((mark) => mark !== '')
  const tokens = marks.flatMap((mark) => {
    const all = model.tokenize(mark, true)
    return all.length === 1 ? all : all.filter((token) => model.isSpecialToken(token))
  })
  return new Set(tokens)
}
