import { itemSchema, propertySchema, typesOf } from '@shoal/grammar'
import { toJson } from './to-json.ts'

type Nested = {
  tags: { keyOpen: string; keyEnd: string; valueEnd: string }
  schema: unknown
  /** The schema in which references are looked up. */
  root: unknown
}

const itemName = 'item'
const maxDepth = 20

/**
 * Converts a value to JSON if its members are in tags, the form in which MiniMax M3 writes objects and lists. Returns
 * undefined for any other value.
 */
export function nestedJson(text: string, nested: Nested, depth = 0): string | undefined {
  const { tags, schema, root } = nested
  const types = typesOf(schema, root)
  const isNested = tags.valueEnd.includes('KEY') && text.trimStart().startsWith(tags.keyOpen)
  if (!isNested || types.has('string') || depth > maxDepth) return undefined
  const members = readMembers(text, tags)
  const toMember = ([name, value]: [string, string]) => {
    const own = types.has('array') && name === itemName ? itemSchema : propertySchemaOf(name)
    const inner = { ...nested, schema: own(schema, root) }
    return nestedJson(value, inner, depth + 1) ?? toJson(value, typesOf(inner.schema, root))
  }
  if (types.has('array') && members.every(([name]) => name === itemName)) {
    return `[${members.map(toMember).join(', ')}]`
  }
  const pairs = members.map((member) => `${JSON.stringify(member[0])}: ${toMember(member)}`)
  return `{${pairs.join(', ')}}`
}

const propertySchemaOf = (name: string) => (schema: unknown, root: unknown) =>
  propertySchema(schema, name, root)

function readMembers(text: string, { keyOpen, keyEnd, valueEnd }: Nested['tags']) {
  const members: [string, string][] = []
  let place = text.indexOf(keyOpen)
  while (place !== -1) {
    const nameEnd = text.indexOf(keyEnd, place + keyOpen.length)
    const name = text.slice(place + keyOpen.length, nameEnd)
    const end = valueEnd.replace('KEY', () => name)
    const valueEndPlace = nameEnd === -1 ? -1 : text.indexOf(end, nameEnd)
    if (valueEndPlace === -1) break
    members.push([name, text.slice(nameEnd + keyEnd.length, valueEndPlace)])
    place = text.indexOf(keyOpen, valueEndPlace + end.length)
  }
  return members
}
