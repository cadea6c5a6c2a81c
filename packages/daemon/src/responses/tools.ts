/** The tools of a request, in the format of OpenAI's Responses API. */
import { maxTools, type ResponseRequest } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'
import { makeTool, type Tool } from '../runtime/runtime.ts'

export type RequestTool = NonNullable<ResponseRequest['tools']>[number]
type RequestFunction = Omit<RequestTool, 'tools'>

/**
 * Returns the request's tools except web search. The response's `tools` member contains the same tools. Web search and
 * some other tools run on OpenAI's servers, so they are not supported. Web search is ignored rather than refused,
 * because Codex includes it in every request. `toTools` refuses the others.
 */
export const offeredTools = ({ tools }: ResponseRequest): RequestTool[] =>
  (tools ?? []).filter(isOffered)

const isOffered = ({ type }: RequestTool) => !type.startsWith('web_search')

/** Converts functions, and the functions in namespaces, to the runtime's format. */
export function toTools(request: ResponseRequest): Tool[] {
  const tools = (request.tools ?? []).flatMap((tool, index) => {
    if (!isOffered(tool)) return []
    const path = `tools.${index}`
    if (tool.type !== 'namespace') return toTool(tool, path)
    return (tool.tools ?? []).map((one, place) => toTool(one, `${path}.tools.${place}`))
  })
  if (tools.length > maxTools) {
    const message = `tools must not have more than ${maxTools} functions, including those in namespaces`
    throw new Fault(422, message, { param: 'tools' })
  }
  const names = tools.map(({ function: { name } }) => name)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) {
    throw new Fault(422, `tools contains two functions named ${repeated}`, { param: 'tools' })
  }
  return tools
}

function toTool({ type, name, description, parameters }: RequestFunction, path: string): Tool {
  if (type !== 'function') {
    throw unsupported(`${path}.type`, `${type} is not supported: it must be function`)
  }
  if (!name) {
    const param = `${path}.name`
    throw new Fault(422, `${param} is required`, { param })
  }
  return makeTool({ name, description, parameters })
}

/** Maps the name of each function in a namespace to that namespace, which every call to the function must contain. */
export function findNamespaces({ tools }: ResponseRequest): Map<string, string> {
  const namespaces = (tools ?? []).filter(({ type }) => type === 'namespace')
  return new Map(
    namespaces.flatMap(({ name: namespace = '', tools: functions }) =>
      (functions ?? []).map(({ name }) => [name ?? '', namespace ?? ''] as const),
    ),
  )
}
