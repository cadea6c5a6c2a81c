import { Fault } from '../errors.ts'
import type { Chat, Tool } from '../runtime/runtime.ts'

/** A request's tool choice, in a form that covers both chat completions and the Responses API. */
export type WantedTools = {
  mode: 'auto' | 'none' | 'required'
  /** The tool that must be called. */
  name?: string
  /** The tools that may be called; undefined if all tools may be called. */
  allowed?: string[]
}

/**
 * Returns the tools that may be called, and how the model chooses among them. Throws a `Fault` if the choice contains
 * an unknown tool, or requires a call although there are no tools.
 */
export function chooseTools(
  tools: Tool[],
  { mode, name, allowed }: WantedTools,
): Pick<Chat, 'tools' | 'toolChoice'> {
  const known = new Set(tools.map((tool) => tool.function.name))
  const wanted = name === undefined ? (allowed ?? []) : [name]
  const unknown = wanted.find((one) => !known.has(one))
  if (unknown !== undefined) {
    throw wrongChoice(`tool_choice names ${unknown}, which is not one of the tools`)
  }
  if (mode === 'required' && tools.length === 0) {
    throw wrongChoice('tool_choice requires a tool call, but there are no tools')
  }
  return {
    tools: allowed ? tools.filter((tool) => allowed.includes(tool.function.name)) : tools,
    toolChoice: name === undefined ? mode : { name },
  }
}

const wrongChoice = (message: string) => new Fault(400, message, { param: 'tool_choice' })
