/** Renders chats with a template, which is untrusted: see `render-here.ts` and `render-in-thread.ts`. */
import { createHash } from 'node:crypto'
import type { ChatMessage, Tool } from '../runtime.ts'
import { jsonValue } from './formats/json-value.ts'
import type { Limits } from './jinja/budget.ts'
import { unshield } from './jinja/shield.ts'
import { formatTime } from './jinja/strftime.ts'
import { parseTemplate, type Template } from './jinja/template.ts'
import { ParsedJson } from './jinja/values.ts'

/** A chat template and the special tokens that it prints. */
export type ChatTemplate = { source: string; bos: string; eos: string }

/** The input of a template: messages, declared tools, and other variables, such as `enable_thinking`. */
export type ChatToPrint = {
  messages: ChatMessage[]
  tools: Tool[]
  variables: Record<string, unknown>
}

/** Returns a function that renders a chat. The function throws the template's own errors and its syntax errors. */
export function chatRenderer({ source, bos, eos }: ChatTemplate, limits?: Limits) {
  /**
   * Parsed when the first chat is rendered, so that requests without a chat work even if the template is invalid.
   */
  let template: Template | undefined
  const hasThinkingParts = source.includes("block['thinking']")

  /** `now` is the current time, which templates can print. */
  function render({ messages, tools, variables }: ChatToPrint, now: Date): string {
    template ??= parseTemplate(source, limits)
    const { render: renderTemplate } = template
    const others = {
      ...dates(now),
      ...variables,
      ...(tools.length > 0 && { tools }),
      bos_token: bos,
      eos_token: eos,
    }
    return renderWithSystem(messages, (shown) =>
      renderTemplate({ ...others, messages: shown.map(forTemplate) }, now),
    )
  }

  /** Mistral's templates require IDs of nine characters. */
  const toTemplateId = (id: string) =>
    id.length !== 9 && source.includes('length != 9')
      ? createHash('sha256').update(unshield(id)).digest('hex').slice(0, 9)
      : id

  /** Converts a message for the template. Parses the arguments of calls, because templates serialize them again. */
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

  return render
}

/** The variables in which templates expect today's date. */
const dates = (now: Date) => ({
  date_string: formatTime(now, '%d %b %Y'),
  datetime: formatTime(now, '%b %d %Y'),
})

/**
 * Renders messages. If the template rejects system messages, moves their content to user messages. At first, only
 * system messages after the first message are moved, because fewer templates accept those. If the template rejects the
 * result too, a system message at the beginning is also moved.
 */
function renderWithSystem(
  messages: ChatMessage[],
  render: (messages: ChatMessage[]) => string,
): string {
  try {
    return render(messages)
  } catch (error) {
    const [first, ...rest] = messages
    const isSystem = ({ role }: ChatMessage) => role === 'system'
    const hasUser = messages.some(({ role }) => role === 'user')
    const isRejected = messages.some(isSystem) && /system|alternate/i.test(String(error))
    if (!first || !isRejected || !hasUser) throw error
    if (!rest.some(isSystem)) return render(moveSystemContent(messages))
    return renderWithSystem(
      isSystem(first) ? [first, ...moveSystemContent(rest)] : moveSystemContent(messages),
      render,
    )
  }
}

/** Moves the content of system messages to the next user message or, if there is none, to the last one. */
function moveSystemContent(messages: ChatMessage[]): ChatMessage[] {
  const moved: ChatMessage[] = []
  let waiting: string[] = []
  for (const message of messages) {
    if (message.role === 'system') waiting.push(message.content)
    else if (message.role === 'user') {
      moved.push({ ...message, content: [...waiting, message.content].join('\n') })
      waiting = []
    } else moved.push(message)
  }
  const last = moved.findLast(({ role }) => role === 'user')
  if (last) last.content = [last.content, ...waiting].join('\n')
  return moved
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
