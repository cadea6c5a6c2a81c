import { createHash } from 'node:crypto'
import { type Chat, type ChatMessage, promptError } from '../runtime.ts'
import { type AnswerFormat, detectAnswerFormat } from './answer-format.ts'
import type { AnswerState } from './answer-parser.ts'
import { harmonyMarks } from './harmony-parser.ts'
import { formatTime } from './jinja/strftime.ts'
import { parseTemplate, type Template } from './jinja/template.ts'
import { ParsedJson } from './jinja/values.ts'
import { jsonValue } from './json-value.ts'
import { toolsInWords } from './tools-in-words.ts'

/** The names of today's date in templates. */
const dates = (now: Date) => ({
  date_string: formatTime(now, '%d %b %Y'),
  datetime: formatTime(now, '%b %d %Y'),
})

type Options = {
  /** The model's special tokens. */
  bos: string
  eos: string
  /** The time in templates; default: the current time. */
  now?: () => Date
}

export type ChatPrompt = { text: string; beginsIn: AnswerState }

/** Renders chats with the Jinja template in the model's file, in the format on which the model was trained. */
export function chatPrompts(
  templateText: string | undefined,
  { bos, eos, now = () => new Date() }: Options,
) {
  /**
   * The template is parsed when the first chat is rendered. If it is broken, requests that need no template still work.
   */
  let template: Template | undefined
  const format = detectAnswerFormat(templateText)
  const hasThinkingParts = templateText?.includes("block['thinking']") ?? false

  /** `isBound` means that a grammar constrains the answer, which leaves no place for reasoning. */
  function prompt(chat: Chat, isBound: boolean): ChatPrompt {
    if (templateText === undefined) {
      throw promptError('template_failed', 'this model has no chat template')
    }
    const isForced = chat.toolChoice === 'required' || typeof chat.toolChoice === 'object'
    const tools = chat.toolChoice === 'none' ? [] : chat.tools
    const messages = format.hasTools
      ? chat.messages.map(forTemplate)
      : toolsInWords(chat.messages, tools)
    try {
      template ??= parseTemplate(templateText)
      const render = (all: readonly object[]) =>
        template?.render({ ...variables, messages: all }, now()) ?? ''
      const variables = {
        ...dates(now()),
        ...((isBound || isForced) && { enable_thinking: false }),
        ...chat.variables,
        ...(format.hasTools && tools.length > 0 && { tools }),
        add_generation_prompt: true,
        bos_token: bos,
        eos_token: eos,
      }
      return ending(renderWithSystem(messages, render), { isForced, isBound })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      throw promptError('template_failed', `error in the model's chat template: ${message}`)
    }
  }

  /** Determines how the answer begins. Some templates start the reasoning themselves. */
  function ending(text: string, { isForced, isBound }: { isForced: boolean; isBound: boolean }) {
    const { reasoning, calls, isHarmony } = format
    const isThinking = reasoning !== undefined && text.trimEnd().endsWith(reasoning.open)
    const closed = isThinking && (isForced || isBound) ? `${text}${reasoning.close}\n\n` : text
    if (isForced) return { text: closed + calls.open, beginsIn: 'call' as const }
    if (isBound && isHarmony) return { text: text + harmonyFinal, beginsIn: 'text' as const }
    if (isBound) return { text: closed, beginsIn: 'text' as const }
    if (isThinking) return { text, beginsIn: 'reasoning' as const }
    const isPlain = reasoning === undefined && calls.open !== '' && !isHarmony
    return { text, beginsIn: isPlain ? ('text' as const) : ('start' as const) }
  }

  /** Mistral's templates require IDs of nine characters. */
  const toTemplateId = (id: string) =>
    id.length !== 9 && templateText?.includes('length != 9')
      ? createHash('sha256').update(id).digest('hex').slice(0, 9)
      : id

  /** Parses the arguments of calls, because templates serialize them as JSON themselves. */
  function forTemplate({ tool_calls, tool_call_id, ...message }: ChatMessage) {
    return {
      ...(hasThinkingParts ? withThinkingPart(message) : message),
      ...(tool_call_id !== undefined && { tool_call_id: toTemplateId(tool_call_id) }),
      ...(tool_calls && {
        tool_calls: tool_calls.map(({ function: { name, arguments: args }, ...call }) => ({
          ...call,
          id: toTemplateId(call.id),
          function: { name, arguments: toArguments(args) },
        })),
      }),
    }
  }

  return { format, prompt }
}

/**
 * Renders messages. If the template refuses a system message, the message becomes the beginning of the first message of
 * the user.
 */
function renderWithSystem<Message extends { role: string; content: unknown }>(
  messages: readonly Message[],
  render: (messages: readonly Message[]) => string,
): string {
  try {
    return render(messages)
  } catch (error) {
    const [system, first, ...rest] = messages
    const isRefused = system?.role === 'system' && first?.role === 'user'
    if (!isRefused || !/system/i.test(String(error))) throw error
    return render([{ ...first, content: `${system.content}\n${first.content}` }, ...rest])
  }
}

/** Newer templates of Mistral expect reasoning as a part of the content. */
function withThinkingPart({ reasoning_content: thinking, content, ...message }: ChatMessage) {
  if (!thinking) return { ...message, content }
  return {
    ...message,
    content: [
      { type: 'thinking', thinking },
      { type: 'text', text: content },
    ],
  }
}

/** Some templates expect an object, and others its text. */
function toArguments(json: string): unknown {
  const value = jsonValue(json)
  return isObject(value) ? new ParsedJson(json, value) : (value ?? json)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const harmonyFinal = `${harmonyMarks.channel}final${harmonyMarks.message}`

/** The JSON schema of a forced call, from which a grammar is made. */
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

/** Adjusts the references in a schema after it has been moved, because references start at the root. */
function movedTo(place: string, schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', `"$ref":"#${place}`))
}
