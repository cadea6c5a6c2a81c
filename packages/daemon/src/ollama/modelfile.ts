import type { OllamaCreateRequest } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'

type Created = Pick<OllamaCreateRequest, 'from' | 'system' | 'template'> & {
  parameters: Record<string, unknown>
}

const emptyLine = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y
const instruction = /[ \t]*(\w+)[ \t]+(?:"""([\s\S]*?)"""|"([^"\n]*)"|([^\n]*?))[ \t]*(?:\n|$)/y

/**
 * Reads a Modelfile (https://docs.ollama.com/modelfile). Each instruction begins a line. Its argument is the rest of the
 * line, or a text in `"` or `"""`; the latter may have several lines. Throws a `Fault` for an instruction that would
 * have an effect but is not supported.
 */
export function parseModelfile(text: string): Created {
  const source = text.replaceAll('\r\n', '\n')
  const created: Created = { parameters: {} }
  const take = (pattern: RegExp, place: number) => {
    pattern.lastIndex = place
    return pattern.exec(source)
  }
  for (let place = 0; place < source.length; ) {
    const found = take(emptyLine, place) ?? take(instruction, place)
    if (!found) {
      const [line] = source.slice(place).split('\n')
      throw new Fault(400, `the Modelfile contains an invalid line: ${line}`, {
        param: 'modelfile',
      })
    }
    const [whole, name, long, quoted, rest = ''] = found
    if (name !== undefined) apply(created, name.toUpperCase(), long ?? quoted ?? rest)
    place += whole.length
  }
  return created
}

function apply(created: Created, name: string, argument: string) {
  if (name === 'FROM') created.from = argument
  else if (name === 'SYSTEM') created.system = argument
  else if (name === 'TEMPLATE') created.template = argument
  else if (name === 'PARAMETER') addParameter(created.parameters, argument)
  else if (name !== 'LICENSE' && name !== 'REQUIRES') {
    throw unsupported('modelfile', `contains ${name}, which is not supported`)
  }
}

function addParameter(parameters: Record<string, unknown>, argument: string) {
  const [, name = '', text = ''] = /^(\S+)\s+"?(.*?)"?$/.exec(argument) ?? []
  if (name === 'stop') parameters.stop = [...((parameters.stop ?? []) as string[]), text]
  else parameters[name] = /^(true|false)$/.test(text) ? text === 'true' : Number(text)
}
