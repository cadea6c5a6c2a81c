/** The format of models whose answers consist of messages with headers. */
import type { AnswerFormat } from './answer-format.ts'
import { type Print, probe } from './probe.ts'

export const messageMark = '<|message|>'
const start = '<|start|>assistant'
const end = '<|end|>'

/**
 * The format of gpt-oss (https://cookbook.openai.com/articles/openai-harmony), used if the template prints no reasoning
 * for the probe.
 */
const harmony = `<|channel|>analysis${messageMark}${probe.reasoning}${end}${start}<|channel|>final${messageMark}${probe.answer}${end}`

export function messageParts({ plain }: Print): Pick<AnswerFormat, 'reasoning' | 'content'> {
  const answer = plain.includes(probe.reasoning) ? plain : harmony
  const [begin = '', rest = ''] = answer.split(probe.reasoning)
  const [between = ''] = rest.split(probe.answer)
  const [close = end, open = ''] = between.split(start)
  return {
    reasoning: { open: begin, begin, close, end: between },
    content: { open, begin: open, close },
  }
}

/** The text at the end of a prompt that forces a call. */
export const forcedMessage = `<|channel|>commentary <|constrain|>json${messageMark}`
