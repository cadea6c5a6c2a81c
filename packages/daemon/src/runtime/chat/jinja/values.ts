/** The values of `@huggingface/jinja`, which does not export their classes. */
import { Environment } from '@huggingface/jinja'

/** A value in the library's representation: for example a `StringValue`, whose `value` is a string. */
export type Value = ReturnType<Environment['lookupVariable']>
type ValueClass = new (value: unknown) => Value

/**
 * An object that is printed as the JSON text from which it was parsed. Some templates expect a tool call's arguments as
 * an object, and others expect them as text.
 */
export class ParsedJson {
  readonly text: string
  readonly value: object

  constructor(text: string, value: object) {
    this.text = text
    this.value = value
  }
}

/** The JSON text of each mapping that was parsed from JSON. */
const jsonTexts = new WeakMap<Value, string>()

/** Converts a JavaScript value. Members that are undefined are omitted. */
export function toValue(value: unknown): Value {
  if (value instanceof ParsedJson) {
    const mapping = toValue(value.value)
    jsonTexts.set(mapping, value.text)
    return mapping
  }
  if (Array.isArray(value)) return toArray(value.map(toValue))
  if (typeof value !== 'object' || value === null)
    return new Environment().set('value', value) as Value
  const mapping = new Environment().set('value', {}) as Value
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) (mapping.value as Map<string, Value>).set(key, toValue(member))
  }
  return mapping
}

const classOf = (value: unknown) =>
  (new Environment().set('value', value) as Value).constructor as ValueClass
const ArrayValue = classOf([])
const FloatValue = classOf(0.5)
const FunctionValue = classOf(() => undefined)

export const toArray = (items: readonly Value[]): Value => new ArrayValue(items)
/** Creates a float, even if the number is an integer. */
export const toFloat = (value: number): Value => new FloatValue(value)
export const toFunction = (call: (args: Value[]) => Value): Value => new FunctionValue(call)
export const isUndefined = ({ type }: Value) => type === 'UndefinedValue'
export const isNull = ({ type }: Value) => type === 'NullValue'
export const isText = ({ type }: Value) => type === 'StringValue'
export const isInteger = ({ type }: Value) => type === 'IntegerValue'
export const isMapping = ({ type }: Value) => type === 'ObjectValue'
export const isList = ({ type }: Value) => type === 'ArrayValue' || type === 'TupleValue'
/** The items of a list. */
export const itemsOf = (list: Value): Value[] => list.value as Value[]

/** Converts a value to text as Python's `str` does. */
export function toText(value: Value): string {
  if (isUndefined(value)) return ''
  return isText(value) ? String(value.value) : (jsonTexts.get(value) ?? represent(value))
}

/** Converts a value to text as Python's `repr` does. */
function represent(value: Value): string {
  if (isUndefined(value)) return 'Undefined'
  if (isNull(value)) return 'None'
  if (isText(value)) return quote(String(value.value))
  if (isList(value)) return `[${itemsOf(value).map(represent).join(', ')}]`
  if (isMapping(value)) {
    const entries = [...(value.value as Map<string, Value>)]
    return `{${entries.map(([key, item]) => `${quote(key)}: ${represent(item)}`).join(', ')}}`
  }
  if (typeof value.value === 'boolean') return value.value ? 'True' : 'False'
  return String(value)
}

/** Quotes a string as Python's `repr` does, which prefers single quotes. */
function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escapes: Record<string, string> = {
    '\\': '\\\\',
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    [mark]: `\\${mark}`,
  }
  return mark + text.replace(/[\\\n\r\t'"]/g, (character) => escapes[character] ?? character) + mark
}
