import { createHash } from 'node:crypto'
import { type Chat, type ChatMessage, isForced, promptError, type Tool } from '../runtime.ts'
import { beginAnswer, type ChatPrompt } from './begin-answer.ts'
import type { AnswerFormat } from './formats/answer-format.ts'
import { detectFormat } from './formats/detect-format.ts'
import { jsonValue } from './formats/json-value.ts'
import { formatTime } from './jinja/strftime.ts'
import { parseTemplate, type Template } from './jinja/template.ts'
import { ParsedJson } from './jinja/values.ts'
import { toolsInWords } from './tools-in-words.ts'

type Options = {
  /** The model's special tokens. */
  bos: string
  eos: string
  /** The time that templates can print. Default: the current time. */
  now?: () => Date
}

/** Renders chats with the Jinja template in the model's file, in the format on which the model was trained. */
export function chatPrompts(
  templateText: string | undefined,
  { bos, eos, now = () => new Date() }: Options,
) {
  /**
   * Parsed when the first chat is rendered, so that requests without a chat work even if the template is invalid.
   */
  let template: Template | undefined
  const hasTools = /\btools\b/.test(templateText ?? '')
  const hasCalls = /\btool_calls\b/.test(templateText ?? '')
  const hasThinkingParts = templateText?.includes("block['thinking']") ?? false

  /** `isBound` means that a grammar constrains the answer, which leaves no place for reasoning. */
  function prompt(chat: Chat, isBound: boolean): ChatPrompt {
    if (templateText === undefined) {
      throw promptError('template_failed', 'this model has no chat template')
    }
    const forced = isForced(chat)
    const tools = chat.toolChoice === 'none' ? [] : chat.tools
    const messages = chat.isContinued ? chat.messages.slice(0, -1) : chat.messages
    const continued = chat.isContinued ? chat.messages.at(-1) : undefined
    try {
      const [shown, declared] = hasTools
        ? [messages, tools]
        : [toolsInWords(messages, tools, { hasCalls, calls: format.calls }), []]
      const text = render(shown, declared, {
        ...((isBound || forced) && { enable_thinking: false }),
        ...chat.variables,
        add_generation_prompt: true,
      })
      return beginAnswer(format, text, { isForced: forced, isBound, continued })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      throw promptError('template_failed', `error in the model's chat template: ${message}`)
    }
  }

  function render(messages: ChatMessage[], tools: Tool[], variables: Record<string, unknown>) {
    template ??= parseTemplate(templateText ?? '')
    const { render: renderTemplate } = template
    const others = {
      ...dates(now()),
      ...variables,
      ...(tools.length > 0 && { tools }),
      bos_token: bos,
      eos_token: eos,
    }
    return renderWithSystem(messages, (shown) =>
      renderTemplate({ ...others, messages: shown.map(forTemplate) }, now()),
    )
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

  const format = detectFormat(templateText ?? '', (messages, tools, isPrompt) =>
    render(messages, hasTools ? tools : [], {
      enable_thinking: true,
      add_generation_prompt: isPrompt,
    }),
  )

  return { format, prompt }
}

/** The variables in which templates expect today's date. */
const dates = (now: Date) => ({
  date_string: formatTime(now, '%d %b %Y'),
  datetime: formatTime(now, '%b %d %Y'),
})

/**
 * Renders messages. If the template rejects a system message, its content is put at the beginning of the user's first
 * message.
 */
function renderWithSystem(
  messages: ChatMessage[],
  render: (messages: ChatMessage[]) => string,
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

/** Mistral's newer templates expect reasoning as a part of the content. */
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

/** Parses the arguments of a call. Templates can use the result as an object or as text. */
function toArguments(json: string): unknown {
  const value = jsonValue(json)
  return isObject(value) ? new ParsedJson(json, value) : (value ?? json)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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

/** The JSON schema of optional calls after their opening marker; undefined if no grammar can enforce such calls. */
export function lazyCallSchema(chat: Chat, format: AnswerFormat): object | undefined {
  const { shape, isBare } = format.calls
  if (chat.toolChoice !== 'auto' || chat.tools.length === 0) return undefined
  if (shape === undefined || isBare || format.hasMessages) return undefined
  const schema = callSchema(chat, format)
  return shape === 'object'
    ? schema
    : { type: 'array', items: movedTo('/items', schema), minItems: 1 }
}

/** Adjusts the references in a schema that becomes part of another schema, because references start at the root. */
function movedTo(place: string, schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', `"$ref":"#${place}`))
}
