import { type AnswerSyntax, movedTo, type OptionalCalls } from '@shoal/grammar'
import {
  type Chat,
  type ChatMessage,
  type FormSource,
  isForced,
  makeTool,
  promptError,
  type ToolCall,
} from '../runtime.ts'
import { beginAnswer, beginOfText, type ChatPrompt, thinking } from './begin-answer.ts'
import type { AnswerFormat } from './formats/answer-format.ts'
import { detectFormat } from './formats/detect-format.ts'
import { jsonValue } from './formats/json-value.ts'
import { messageMark } from './formats/message-format.ts'
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

  /** `form` is the form that the answer must have; undefined for any text. */
  async function prompt(chat: Chat, form?: FormSource): Promise<ChatPrompt> {
    const all = chat.messages.map(shieldMessage)
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
          ...(format.reasoning && { enable_thinking: !isGrammar(form) }),
          ...shieldAll(chat.variables),
          add_generation_prompt: true,
        },
      })
      return beginAnswer(format, text, {
        isForced: isForced(chat),
        isBound: form !== undefined,
        mayCall: mayCall(chat) && !isGrammar(form),
        mayThink: mayThink(chat) && !isGrammar(form),
        continued,
      })
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
    text: async (chat: Chat, form?: FormSource) => unshield((await prompt(chat, form)).text),
  }
}

function shieldMessage({ tool_calls, ...message }: ChatMessage): ChatMessage {
  const toCall = ({ function: { name, arguments: args }, ...call }: ToolCall): ToolCall => ({
    ...shieldAll(call),
    function: { name: shield(name), arguments: shieldJson(args, jsonValue(args) !== undefined) },
  })
  return { ...shieldAll(message), ...(tool_calls && { tool_calls: tool_calls.map(toCall) }) }
}

/** Whether the model may think before its answer. By default it may, as in llama-server and Ollama. */
const mayThink = ({ variables, isContinued }: Chat): boolean =>
  variables.enable_thinking !== false && !isContinued

/** Whether the answer may be a call. */
export const mayCall = ({ tools, toolChoice, isContinued }: Chat): boolean =>
  toolChoice === 'auto' && tools.length > 0 && !isContinued

/** A client's own grammar applies to the entire answer, so it leaves no room for reasoning or calls. */
const isGrammar = (form: FormSource | undefined): boolean => form !== undefined && 'gbnf' in form

/**
 * Returns the syntax of an answer that must have a form or be a forced call, after the part that the prompt contains.
 * Returns undefined if the form applies to the entire rest of the answer.
 */
export function answerSyntax(
  chat: Chat,
  format: AnswerFormat,
  { begun, form }: { begun: string; form: AnswerSyntax['form'] },
): AnswerSyntax | undefined {
  const reasoning = mayThink(chat) ? thinking(format, begun) : undefined
  const isCall = mayCall(chat)
  if (!reasoning && !isCall) return undefined
  const { opening, opens, isBare } = format.calls
  return {
    reasoning,
    before: isForced(chat) ? opening : beginOfText(format, begun),
    form,
    bareCall: isCall && isBare ? anyCallSchema(chat, format) : undefined,
    calls: isCall ? callOpenings(chat, format) : [],
    callsInReasoning: isCall && opens.length > 1 ? opens : [],
  }
}

/** The markers with which a call begins. */
function callOpenings({ tools }: Chat, { calls, hasMessages }: AnswerFormat): string[] {
  if (!hasMessages) return calls.opens
  if (calls.syntax?.kind === 'message')
    return ['', '<|channel|>commentary', '<|channel|>analysis'].map((head) => `${head} to=`)
  return tools.map(({ function: { name } }) => ` to=${name}${messageMark}`)
}

/** Returns the JSON schema of calls with any arguments. */
function anyCallSchema({ tools, ...chat }: Chat, format: AnswerFormat): object {
  const names = tools.map(({ function: { name } }) => makeTool({ name }))
  return callSchema({ ...chat, tools: names }, format)
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
