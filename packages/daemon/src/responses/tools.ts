/** The tools of a request, in the format of OpenAI's Responses API. */
import type { ResponseRequest } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'
import type { Tool } from '../runtime/runtime.ts'

export type RequestTool = NonNullable<ResponseRequest['tools']>[number]
type RequestFunction = Omit<RequestTool, 'tools'>

/**
 * Returns the tools that the model gets. Web search runs at OpenAI and is left out, because Codex offers it in each
 * request; the `tools` of the response do not contain it either. Other tools that run elsewhere are refused.
 */
export const offeredTools = ({ tools }: ResponseRequest): RequestTool[] =>
  (tools ?? []).filter(({ type }) => !type.startsWith('web_search'))

/** Converts functions, and the functions in namespaces, to the runtime's format. */
export function toTools(request: ResponseRequest): Tool[] {
  const names = new Set<string>()
  return (request.tools ?? []).flatMap((tool, index) => {
    if (!offeredTools({ ...request, tools: [tool] }).length) return []
    const path = `tools.${index}`
    const functions =
      tool.type === 'namespace'
        ? (tool.tools ?? []).map((one, place) => toTool(one, `${path}.tools.${place}`))
        : [toTool(tool, path)]
    for (const { function: one } of functions) {
      if (names.has(one.name)) {
        throw new Fault(422, `tools contains two functions named ${one.name}`, { param: path })
      }
      names.add(one.name)
    }
    return functions
  })
}

function toTool({ type, name, description, parameters }: RequestFunction, path: string): Tool {
  if (type !== 'function') {
    throw unsupported(`${path}.type`, `${type} is not supported: it must be function`)
  }
  if (!name) {
    const param = `${path}.name`
    throw new Fault(422, `${param} is required`, { param })
  }
  const optional = { ...(description && { description }), ...(parameters && { parameters }) }
  return { type: 'function', function: { name, ...optional } }
}

/** Maps the name of each function in a namespace to the namespace, which calls of the function must contain. */
export function findNamespaces({ tools }: ResponseRequest): Map<string, string> {
  const namespaces = (tools ?? []).filter(({ type }) => type === 'namespace')
  return new Map(
    namespaces.flatMap(({ name: namespace = '', tools: functions }) =>
      (functions ?? []).map(({ name }) => [name ?? '', namespace ?? ''] as const),
    ),
  )
}
