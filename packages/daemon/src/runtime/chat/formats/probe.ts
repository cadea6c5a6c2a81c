import type { ChatMessage, Tool } from '../../runtime.ts'
import { isTemplateLimit } from '../jinja/template-limit.ts'

/** Renders a conversation with a model's template, with or without the beginning of the next answer. */
export type RenderProbe = (
  messages: ChatMessage[],
  tools: Tool[],
  isPrompt: boolean,
) => Promise<string>

/**
 * The strings that are searched for in the output of a template. The argument names are in alphabetical order, because
 * some templates sort arguments. Therefore, `number` is always the last argument.
 */
export const probe = {
  question: 'PROBE QUESTION',
  answer: 'PROBE ANSWER',
  reasoning: 'PROBE REASONING',
  name: 'probe_tool',
  textKey: 'probe_text',
  text: 'PROBE VALUE',
  numberKey: 'zone_number',
  number: '12345',
}

const user = { role: 'user', content: probe.question }
const plain = { role: 'assistant', content: probe.answer, reasoning_content: probe.reasoning }
const call = {
  id: `functions.${probe.name}:0`,
  type: 'function' as const,
  function: {
    name: probe.name,
    arguments: JSON.stringify({
      [probe.textKey]: probe.text,
      [probe.numberKey]: Number(probe.number),
    }),
  },
}
const tool: Tool = {
  type: 'function',
  function: {
    name: probe.name,
    description: 'A tool.',
    parameters: {
      type: 'object',
      properties: {
        [probe.textKey]: { type: 'string', description: 'A text.' },
        [probe.numberKey]: { type: 'integer', description: 'A number.' },
      },
      required: [probe.textKey],
    },
  },
}

/**
 * What a template prints for the probe, after the question. A string is empty if the template fails or does not print
 * that part.
 */
export type Print = {
  /** The end of a prompt, after the question. */
  prompt: string
  /** The beginning that the prompt and an answer have in common. The members below do not include it. */
  header: string
  /** An answer with reasoning and text. */
  plain: string
  /** An answer with a call. */
  call: string
  /** An answer with text and a call. */
  textAndCall: string
}

export const emptyPrint: Print = { prompt: '', header: '', plain: '', call: '', textAndCall: '' }

/** The marker at the end of Functionary's prompts, which belongs to the answer. */
const recipientMark = />>>$/

/** Renders the probe. Rejects if the template takes too much time or memory. */
export async function printProbe(render: RenderProbe): Promise<Print> {
  const print = async (answer: ChatMessage) =>
    afterQuestion(await attempt(() => render([user, answer], [tool], false)))
  const prompt = afterQuestion(await attempt(() => render([user], [tool], true)))
  const answer = await print(plain)
  const header = commonPrefix(prompt, answer).replace(recipientMark, '')
  const rest = (text: string) => text.slice(commonPrefix(header, text).length)
  const printCall = async (content: string) => {
    const text = rest(await print({ ...plain, content, tool_calls: [call] }))
    return text.includes(probe.name) && text.includes(probe.number) ? text : ''
  }
  return {
    prompt,
    header,
    plain: rest(answer),
    call: await printCall(''),
    textAndCall: await printCall(probe.answer),
  }
}

const afterQuestion = (text: string): string => {
  const place = text.lastIndexOf(probe.question)
  return place === -1 ? '' : text.slice(place + probe.question.length)
}

/** The longest common prefix of two strings that does not end within a tag. */
function commonPrefix(one: string, other: string): string {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return one.slice(0, length).replace(/<[^<>]*$/, '')
}

/**
 * Returns an empty string if the template rejects the probe. A template may do so and still accept real conversations.
 */
async function attempt(render: () => Promise<string>): Promise<string> {
  try {
    return await render()
  } catch (error) {
    if (isTemplateLimit(error)) throw error
    return ''
  }
}
