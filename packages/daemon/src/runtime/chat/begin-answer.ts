import type { AnswerSyntax } from '@shoal/grammar'
import type { ChatMessage } from '../runtime.ts'
import type { AnswerFormat } from './formats/answer-format.ts'
import { markers } from './formats/markers.ts'
import { unshield } from './jinja/shield.ts'

/**
 * A rendered prompt. `text` is shielded (`shield.ts`). `begun` is the part at its end that belongs to the answer, such as
 * a marker that begins reasoning; it is not shielded.
 */
export type ChatPrompt = { text: string; begun: string }

type Answer = {
  isForced: boolean
  /** Whether the answer must be JSON. */
  isBound: boolean
  /** Whether a call may replace the JSON. */
  mayCall: boolean
  mayThink: boolean
  /** The message that the answer continues; undefined for a new answer. */
  continued: ChatMessage | undefined
}

/** The maximum number of characters at the end of a prompt that are searched for markers. */
const maxBegunLength = 200

/**
 * Finds the beginning of the answer at the end of a prompt, because some templates begin the reasoning themselves. Adds
 * the text that must come next: the part of a continued answer that already exists or, if the model does not think
 * first, the beginning of a forced call or of JSON.
 */
export function beginAnswer(format: AnswerFormat, text: string, answer: Answer): ChatPrompt {
  const begun = findBegun(format, text)
  const header = text.slice(0, text.length - begun.length)
  const whole = begun + addition(format, begun, answer)
  const given = answer.continued ? continuation(format, begun, answer.continued) : whole
  return { text: header + given, begun: unshield(given) }
}

/** Finds the markers at the end of a prompt. */
function findBegun({ reasoning, content, calls }: AnswerFormat, text: string): string {
  const marks = [reasoning?.open, reasoning?.intro, reasoning?.close, content?.open, calls.opens[0]]
  const { pattern } = markers(...marks.map((mark) => mark ?? ''))
  const end = new RegExp(`(?:(?:${pattern.source})\\s*)*$`)
  return end.exec(text.slice(-maxBegunLength))?.[0] ?? ''
}

function addition(
  format: AnswerFormat,
  begun: string,
  { isForced, isBound, mayCall, mayThink }: Answer,
): string {
  if (!isForced && !isBound) return ''
  if (mayThink && thinking(format, begun)) return ''
  const end = endOfReasoning(format, begun)
  if (isForced) return end + format.calls.opening
  return mayCall ? end : end + beginOfText(format, begun)
}

/**
 * Returns how the model may think before the rest of its answer; undefined if the format has no reasoning, or if the
 * prompt has already passed the place for it.
 */
export function thinking(
  { reasoning, content, hasMessages }: AnswerFormat,
  begun: string,
): AnswerSyntax['reasoning'] {
  if (!reasoning || begun.includes(reasoning.close)) return undefined
  if (content && begun.includes(content.open)) return undefined
  const { open, close, end } = reasoning
  const [, after = ''] = end.split(close)
  return {
    open,
    close,
    isBegun: begun.trimEnd().endsWith(open),
    after: hasMessages ? after.replace(content?.open ?? '', '') : '',
  }
}

/** Returns the text that ends the reasoning, or an empty string if the template has not begun the reasoning. */
function endOfReasoning({ reasoning }: AnswerFormat, begun: string): string {
  const isOpen = reasoning && begun !== '' && begun.trimEnd().endsWith(reasoning.open)
  return isOpen ? `${reasoning.close}\n\n` : ''
}

/** Returns the marker that begins the text, without the part that the prompt already contains. */
export function beginOfText({ content }: AnswerFormat, begun: string): string {
  if (!content || begun.includes(content.open)) return ''
  return begun !== '' && content.begin.startsWith(begun)
    ? content.begin.slice(begun.length)
    : content.begin
}

function continuation(format: AnswerFormat, begun: string, message: ChatMessage): string {
  const { content, reasoning_content: thought } = message
  if (format.reasoning && thought) {
    return format.reasoning.begin + thought + (content === '' ? '' : format.reasoning.end + content)
  }
  if (content === '') return begun
  const end = endOfReasoning(format, begun)
  return begun + end + beginOfText(format, begun) + content
}
