/** Finds the markers of reasoning and of text for the user in the output of a template. */
import type { Part, Reasoning } from './answer-format.ts'
import { toMarkers } from './find-calls.ts'
import { type Print, probe } from './probe.ts'

const reasoningSteps = 'Here are my reasoning steps:'
const finalResponse = '[BEGIN FINAL RESPONSE]'

/** Ends any message, so its presence does not prove that the template prints reasoning. */
const messageEnd = '<|end|>'

/** The known reasoning markers. A model uses the markers that its template prints or contains. */
const reasonings: readonly Pick<Reasoning, 'open' | 'close' | 'intro'>[] = [
  { open: '<think>', close: '</think>' },
  { open: '<|channel>thought', close: '<channel|>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '<mm:think>', close: '</mm:think>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
  { open: '<|open|>think<|sep|>', close: '<|close|>think<|sep|>' },
  { open: '<|think|>', close: messageEnd },
  { open: '', close: finalResponse, intro: reasoningSteps },
  { open: reasoningSteps, close: finalResponse },
]

/** Finds reasoning markers in the output of a template or, if it prints none, in its source. */
function findMarkers({ prompt, plain, call }: Print, template: string) {
  const isIn = (text: string) =>
    reasonings.find(
      ({ open, close, intro }) =>
        [open, close, intro].some((mark) => mark && mark !== messageEnd && text.includes(mark)) &&
        (!intro || prompt.includes(intro)),
    )
  return isIn(prompt + plain + call) ?? isIn(template)
}

export function findReasoning(
  print: Print,
  template: string,
  content: Part | undefined,
): Reasoning | undefined {
  const found = findMarkers(print, template)
  if (!found) return undefined
  const [, space = '\n'] =
    new RegExp(`(\\s*)${probe.reasoning}`).exec(print.header + print.plain) ?? []
  const [, end] = new RegExp(`${probe.reasoning}(.*)${probe.answer}`, 's').exec(print.plain) ?? []
  return {
    ...found,
    begin: found.open === '' ? '' : found.open + space,
    end: end ?? `\n${found.close}\n\n${content?.begin ?? ''}`,
  }
}

/** Finds the marker before text for the user. Whitespace and parts of the reasoning do not count as markers. */
export function findContent(print: Print, template: string): Part | undefined {
  const [before = '', after] = print.plain.split(probe.answer)
  if (after === undefined) return undefined
  const { open = '', close = '' } = findMarkers(print, template) ?? {}
  const last = close === '' ? before : (before.split(close).at(-1) ?? '')
  const begin = last.replace(open, '').replace(probe.reasoning, '').trimStart()
  if (begin === '') return undefined
  return { open: begin.trim(), begin, close: toMarkers(after)[0] ?? '' }
}
