/** The tools of a request, in the format of OpenAI's Responses API. */
import { type InputItem, maxTools, type ResponseRequest } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'
import { makeCustomTool } from '../openai/custom-tools.ts'
import { makeTool, type Tool } from '../runtime/runtime.ts'

export type RequestTool = NonNullable<ResponseRequest['tools']>[number]

/** A tool that the model may call: not a namespace, but one of its tools. */
export type CallableTool = Omit<RequestTool, 'tools'> & {
  name: string
  namespace?: string | undefined
}

/**
 * Returns the request's tools except those that run on OpenAI's servers and would only help the model: web search, and
 * the search for tools that are loaded later, because all tools are loaded at once. They are ignored rather than
 * refused, because Codex includes them in every request. The response's `tools` member contains the same tools.
 */
export const offeredTools = ({ tools }: ResponseRequest): RequestTool[] =>
  (tools ?? []).filter(isOffered)

const isOffered = ({ type, execution }: RequestTool) =>
  !type.startsWith('web_search') && (type !== 'tool_search' || execution === 'client')

/** Lists the tools of the request, and those that the client's search for tools has found. */
export function listTools({ tools }: ResponseRequest, conversation: InputItem[]): CallableTool[] {
  const own = listCallable(tools ?? [], 'tools')
  if (own.length > maxTools) {
    const message = `tools must not have more than ${maxTools} functions, including those in namespaces`
    throw new Fault(422, message, { param: 'tools' })
  }
  const names = own.map(({ name }) => name)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) {
    throw new Fault(422, `tools contains two functions named ${repeated}`, { param: 'tools' })
  }
  const found = conversation.flatMap(({ tools: some }, index) =>
    listCallable(some ?? [], `input.${index}.tools`),
  )
  const others = new Map(found.map((tool) => [tool.name, tool]))
  for (const name of names) others.delete(name)
  return [...own, ...others.values()]
}

function listCallable(tools: RequestTool[], param: string): CallableTool[] {
  return tools.flatMap((tool, index) => {
    const path = `${param}.${index}`
    if (!isOffered(tool)) return []
    if (tool.type !== 'namespace') return checkTool(tool, path)
    const namespace = tool.name ?? ''
    return (tool.tools ?? []).map((one, place) => ({
      ...checkTool(one, `${path}.tools.${place}`),
      namespace,
    }))
  })
}

const callableTypes = ['function', 'custom', 'tool_search']

function checkTool({ type, name, ...others }: Omit<RequestTool, 'tools'>, path: string) {
  if (!callableTypes.includes(type)) {
    throw unsupported(`${path}.type`, `${type} is not supported: it must be function or custom`)
  }
  if (type === 'tool_search') return { ...others, type, name: type }
  if (name) return { ...others, type, name }
  const param = `${path}.name`
  throw new Fault(422, `${param} is required`, { param })
}

/** Converts a tool to the runtime's format. */
export const toTool = ({ type, name, description, parameters, format }: CallableTool): Tool =>
  type === 'custom'
    ? makeCustomTool({ name, description, format })
    : makeTool({ name, description, parameters })
