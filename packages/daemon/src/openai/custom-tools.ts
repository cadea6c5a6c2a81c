/**
 * Tools of type `custom`, whose input is text in any format. A model sees such a tool as a function with one string, and
 * its calls are converted back. A grammar for the input is described to the model, but does not constrain it.
 */
import { isJson } from '../runtime/cut-calls.ts'
import { makeTool, type Tool } from '../runtime/runtime.ts'

/** `format` is a grammar: in chat completions inside the member `grammar`, in the Responses API at the top level. */
export type CustomTool = {
  name: string
  description?: string | null | undefined
  format?: unknown
}

export function makeCustomTool({ name, description, format }: CustomTool): Tool {
  const { type, grammar, ...flat } = Object(format) as { type?: unknown; grammar?: unknown }
  const { syntax, definition } = Object(grammar ?? flat) as Record<string, unknown>
  const rule = `The input must match this grammar, in ${syntax} syntax:\n${definition}`
  // Some descriptions say that the input must not be JSON.
  const place = 'Pass the whole input, as it is, in the parameter `input`.'
  const texts = [description, place, type === 'grammar' ? rule : undefined].filter((text) => text)
  return makeTool({
    name,
    description: texts.join('\n\n'),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    },
  })
}

/** Converts the input of a call to the arguments of the function that the model sees. */
export const toArguments = (input: string): string => JSON.stringify({ input })

/** Returns the input in a function's arguments. A call that was cut off may have only the beginning of the input. */
export function toInput(args: string): string {
  const [, begun = ''] =
    /^\s*\{\s*"input"\s*:\s*"((?:(?!["\\])\P{Cc}|\\u[\da-f]{4}|\\["\\/bfnrt])*)/iu.exec(args) ?? []
  const { input } = Object(JSON.parse(isJson(args) ? args : `{"input":"${begun}"}`))
  return typeof input === 'string' ? input : args
}
