import { isTemplateLimit } from '../jinja/template-limit.ts'
import type { AnswerFormat, CallFormat } from './answer-format.ts'
import { callExample } from './call-examples.ts'
import { findCalls } from './find-calls.ts'
import { findContent, findReasoning } from './find-parts.ts'
import { forcedMessage, messageMark, messageParts } from './message-format.ts'
import { emptyPrint, type Print, printProbe, probe, type RenderProbe } from './probe.ts'

/** A marker that Llama 3 sometimes writes before a call. */
const pythonTag = '<|python_tag|>'

/**
 * Detects the format in which a model writes answers, based on what its chat template prints for a probe. If printing
 * takes too much time or memory, the format is based only on the markers that the template contains.
 */
export async function detectFormat(template: string, render: RenderProbe): Promise<AnswerFormat> {
  const print = await printProbe(render).catch((error) => {
    if (!isTemplateLimit(error)) throw error
    return emptyPrint
  })
  const hasMessages = `${print.plain}${template}`.includes(messageMark)
  const { reasoning, content } = hasMessages ? messageParts(print) : findParts(print, template)
  const ends = [messageMark, reasoning?.close, content?.open, content?.close]
  const printed = findPrintedCalls(print, ends)
  const calls = printed ?? findExample(template)
  if (hasMessages) {
    calls.opening = forcedMessage
    calls.syntax = printed?.syntax ?? { kind: 'message' }
  }
  if (calls.isBare && template.includes(pythonTag)) calls.opens.push(pythonTag)
  return { reasoning, content, calls, hasMessages }
}

function findParts(print: Print, template: string): Pick<AnswerFormat, 'reasoning' | 'content'> {
  const content = findContent(print, template)
  return { content, reasoning: findReasoning(print, template, content) }
}

function findPrintedCalls(print: Print, ends: (string | undefined)[]): CallFormat | undefined {
  const { plain, call, textAndCall } = print
  const example = call === '' ? afterLast(textAndCall, [probe.answer]) : afterLast(call, ends)
  const [, after = ''] = plain.split(probe.answer)
  const calls = findCalls(example, after)
  const [, gap = ''] = new RegExp(`${probe.answer}(\\s*)`).exec(textAndCall) ?? []
  return calls && { ...calls, gap }
}

/** Returns the text after the last of those `ends` markers that precede the arguments. */
function afterLast(text: string, ends: (string | undefined)[]): string {
  const before = text.slice(0, text.indexOf(probe.textKey))
  const starts = ends.map((end) =>
    end && before.includes(end) ? before.lastIndexOf(end) + end.length : 0,
  )
  return text.slice(Math.max(0, ...starts))
}

function findExample(template: string): CallFormat {
  const example = callExample(template)
  const calls = findCalls(example, '')
  if (!calls) throw new Error(`no call in the example ${example}`)
  return calls
}
