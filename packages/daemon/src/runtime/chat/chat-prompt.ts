import { movedTo, type OptionalCalls } from '@shoal/grammar'
import { type Chat, type ChatMessage, isForced, promptError, type ToolCall } from '../runtime.ts'
import { beginAnswer, type ChatPrompt } from './begin-answer.ts'
import type { AnswerFormat } from './formats/answer-format.ts'
import { detectFormat } from './formats/detect-format.ts'
import { jsonValue } from './formats/json-value.ts'
import { shield, shieldAll, shieldJson, unshield } from './jinja/shield.ts'
import type { ChatToPrint } from './render-chat.ts'
import { toolsInWords } from './tools-in-words.ts'

/**
 * Renders a chat with the model's template. Values in the chat, and thus in the result, are shielded (`shield.ts`).
 * Rejects if the template rejects the chat or is invalid.
 */
export type RenderChat = (chat: ChatToPrint) => Promise<string>

export type ChatPrompts = Awaited<ReturnType<typeof chatPrompts>>

/** Renders chats with the Jinja template in the model's file, in the format on which the model was trained. */
export async function chatPrompts(templateText: string, render: RenderChat) {
  const hasTools = /\btools\b/.test(templateText)
  const hasCalls = /\btool_calls\b/.test(templateText)

  /** `isBound`: whether a grammar constrains the answer and leaves no room for reasoning. */
  async function prompt(chat: Chat, isBound: boolean): Promise<ChatPrompt> {
    const all = chat.messages.map(shieldMessage)
    const forced = isForced(chat)
    const tools = chat.toolChoice === 'none' ? [] : shieldAll(chat.tools)
    const messages = chat.isContinued ? all.slice(0, -1) : all
    const continued = chat.isContinued ? all.at(-1) : undefined
    try {
      const [shown, declared] = hasTools
        ? [messages, tools]
        : [toolsInWords(messages, tools, { hasCalls, calls: format.calls }), []]
      const text = await render({
        messages: shown,
        tools: declared,
        variables: {
          ...((isBound || forced) && { enable_thinking: false }),
          ...shieldAll(chat.variables),
          add_generation_prompt: true,
        },
      })
      return beginAnswer(format, text, { isForced: forced, isBound, continued })
    } catch (error) {
      const message = unshield(error instanceof Error ? error.message : String(error))
      throw promptError('template_failed', `error in the model's chat template: ${message}`)
    }
  }

  const format = await detectFormat(templateText, (messages, tools, isPrompt) =>
    render({
      messages,
      tools: hasTools ? tools : [],
      variables: { enable_thinking: true, add_generation_prompt: isPrompt },
    }),
  )

  return {
    format,
    prompt,
    /** Resolves to the prompt without shields. */
    text: async (chat: Chat, isBound: boolean) => unshield((await prompt(chat, isBound)).text),
  }
}

function shieldMessage({ tool_calls, ...message }: ChatMessage): ChatMessage {
  const toCall = ({ function: { name, arguments: args }, ...call }: ToolCall): ToolCall => ({
    ...shieldAll(call),
    function: { name: shield(name), arguments: shieldJson(args, jsonValue(args) !== undefined) },
  })
  return { ...shieldAll(message), ...(tool_calls && { tool_calls: tool_calls.map(toCall) }) }
}

/** Returns the JSON schema of a forced call, to be converted to a grammar. */
export function callSchema({ tools, toolChoice }: Chat, { calls }: AnswerFormat): object {
  const wanted = typeof toolChoice === 'object' ? toolChoice.name : undefined
  const allowed = tools.filter(({ function: { name } }) => wanted === undefined || name === wanted)
  const key = calls.argumentsKey
  return {
    anyOf: allowed.map(({ function: { name, parameters = {} } }, index) => ({
      type: 'object',
      properties: {
        name: { const: name },
        [key]: { type: 'object', ...movedTo(`/anyOf/${index}/properties/${key}`, parameters) },
      },
      required: ['name', key],
    })),
  }
}

/**
 * Returns the calls that a grammar allows after an opening marker. Returns undefined if there are no tools, if the
 * model does not decide whether to call one, or if the format's markers do not reliably show where a call begins.
 */
export function optionalCalls(
  { tools, toolChoice }: Chat,
  { calls, content }: AnswerFormat,
): OptionalCalls | undefined {
  const { opens, syntax, isBare } = calls
  const last = opens.at(-1) ?? ''
  // Markers without any of these characters, such as "```json", also occur in ordinary text.
  const isMarker = syntax?.kind === 'message' || /[<>[\]|]/.test(last)
  if (toolChoice !== 'auto' || tools.length === 0 || !syntax) return undefined
  if (isBare || !isMarker || content?.open.startsWith(last)) return undefined
  return {
    syntax,
    tools: tools.map(({ function: { name, parameters = {} } }) => ({ name, parameters })),
  }
}
