/** Detects how a model writes calls, based on an example: what its template prints for the probe. */
import type { CallSyntax, TextPart } from '@shoal/grammar'
import type { CallFormat } from './answer-format.ts'
import { readJsonCalls } from './json-calls.ts'
import { gemma, literalCalls, python } from './literal-calls.ts'
import { namedCalls } from './named-calls.ts'
import { type ParameterTags, parameterCalls } from './parameter-calls.ts'
import { probe } from './probe.ts'

type Found = Pick<CallFormat, 'opens' | 'closes' | 'read' | 'syntax'> & {
  /** The name of the member that contains the arguments, if a call is a JSON object that also contains the name. */
  argumentsKey?: string
}

/**
 * Returns the format of the call in `example`, which includes its markers, and the names and values of the probe.
 * `after` is what a template prints after an answer without calls. Returns undefined if the example contains no call in
 * a known format.
 */
export function findCalls(example: string, after: string): CallFormat | undefined {
  const found =
    findJsonCalls(example, after) ??
    findLiteralCalls(example, after) ??
    findNamedCalls(example, after) ??
    findParameterCalls(example, after)
  if (!found) return undefined
  const { opens, argumentsKey = 'arguments' } = found
  const last = (found.argumentsKey === undefined ? opens[0] : opens.at(-1)) ?? ''
  const opening = example.slice(0, example.indexOf(last) + last.length).trimStart()
  return { ...found, argumentsKey, opening, example, isBare: opens.length === 0, gap: '' }
}

const string = '"(?:[^"\\\\]|\\\\.)*"'
const jsonCall = new RegExp(
  `(?:\\[\\s*)?\\{\\s*(?:${string}:\\s*${string},\\s*)*"(\\w+)":\\s*"${probe.name}",\\s*"(\\w+)":\\s*[{"]`,
)
const keyedJsonCall = new RegExp(`(?:\\[\\s*)?\\{\\s*"${probe.name}":\\s*[{"]`)
const literalCall = new RegExp(`${probe.name}([({])${probe.textKey}[=:]`)
const namedCall = new RegExp(`${probe.name}([^{]*)\\{\\s*"${probe.textKey}"`)
/** Matches what follows the last argument within a call: closing brackets, and members such as an ID. */
const bracketsAfter = /^[\s"}\])]*(?:,\s*"\w+":\s*"[^"]*"[\s}\]]*)?/

function findJsonCalls(example: string, after: string): Found | undefined {
  const found = jsonCall.exec(example) ?? keyedJsonCall.exec(example)
  if (!found) return undefined
  const [text, nameKey, argumentsKey = 'arguments'] = found
  const [, memberAfter] = /"(\w+)"/.exec(bracketsAfter.exec(restOf(example))?.[0] ?? '') ?? []
  const syntax: CallSyntax = {
    kind: 'json',
    isList: text.startsWith('['),
    before: Array.from(text.matchAll(/"(\w+)":/g), ([, key = '']) => key).filter(
      (key) => key !== nameKey && key !== argumentsKey && key !== probe.name,
    ),
    nameKey,
    argumentsKey,
    after: memberAfter === undefined ? [] : [memberAfter],
  }
  return { ...around(example, found.index, after), read: readJsonCalls, argumentsKey, syntax }
}

function findLiteralCalls(example: string, after: string): Found | undefined {
  const found = literalCall.exec(example)
  if (!found) return undefined
  const isPython = found[1] === python.open
  const isList = /\[\s*$/.test(example.slice(0, found.index))
  return {
    ...around(example, found.index, after),
    read: literalCalls(isPython ? python : gemma),
    syntax: { kind: 'literals', dialect: isPython ? 'python' : 'gemma', isList },
  }
}

function findNamedCalls(example: string, after: string): Found | undefined {
  const found = namedCall.exec(example)
  if (!found) return undefined
  const [, between = ''] = found
  const [nameEnd] = /(?:<[^<>]*>|\[[^[\]]*\]|[^\s<[]*)$/.exec(between.trimEnd()) ?? []
  const parts = around(example, found.index, after)
  const last = parts.opens.at(-1) ?? ''
  const before = example.slice(example.lastIndexOf(last, found.index) + last.length, found.index)
  return {
    ...parts,
    read: namedCalls(nameEnd || '\n'),
    syntax: { kind: 'named', before: textParts(before.trimStart()), between: textParts(between) },
  }
}

function around(example: string, start: number, after: string) {
  return {
    opens: toMarkers(example.slice(0, start)),
    closes: toMarkers(withoutSuffix(restOf(example).replace(bracketsAfter, ''), after)),
  }
}

/** Returns the text after the last argument of the probe. */
const restOf = (example: string): string =>
  example.slice(example.lastIndexOf(probe.number) + probe.number.length)

function findParameterCalls(example: string, after: string): Found | undefined {
  const start = example.indexOf(probe.name)
  const [, beforeKey, beforeText, afterText] = between(example, start) ?? []
  if (beforeKey === undefined || beforeText === undefined || afterText === undefined)
    return undefined
  const [nameEnd = ''] = /^[^<]*?(?:<[^<>]*)?>/.exec(beforeKey.trimStart()) ?? []
  const isNameEnded = !beforeKey.trimStart().startsWith('<')
  const keyOpen = (isNameEnded ? beforeKey.slice(nameEnd.length) : beforeKey).trim()
  const [, keyEnd, valueOpen = ''] =
    /^(?:"[^<>]*)?(<[^<>]*>|>)\s*(<[^<>]*>)?$/.exec(beforeText.trim()) ?? []
  if (keyEnd === undefined || keyOpen === '') return undefined
  const valueEnd = withoutSuffix(afterText, keyOpen).trim().replace(probe.textKey, 'KEY')
  const rest = restOf(example)
  const lastEnd = valueEnd.replace('KEY', probe.numberKey)
  const [end = '', ...closes] = toMarkers(
    withoutSuffix(rest.slice(rest.indexOf(lastEnd) + lastEnd.length), after),
  )
  const tags: ParameterTags = {
    nameEnd: isNameEnded ? (/<[^<>]*>$|>$/.exec(nameEnd)?.[0] ?? '') : '',
    keyOpen,
    keyEnd,
    valueOpen,
    valueEnd,
    end,
    isPadded: beforeText.endsWith('\n'),
  }
  const opens = toMarkers(example.slice(0, start))
  const afterName = beforeKey.slice(0, beforeKey.lastIndexOf(keyOpen)).trim()
  const syntax: CallSyntax = {
    kind: 'tags',
    afterName: textParts(afterName),
    afterKey: textParts(beforeText),
    keyOpen,
    valueEnd,
    isPadded: tags.isPadded,
    end,
  }
  return { opens, closes, read: parameterCalls(tags), syntax }
}

/** Matches the parts of an example that differ between calls: attributes, IDs, other numbers and the tool's name. */
const variable = new RegExp(`(?<==")[^"]*(?=")|\\d+|${probe.name}`, 'g')

function textParts(text: string): TextPart[] {
  const kinds = Array.from(text.matchAll(variable), ([found]): TextPart => {
    if (found === probe.name) return { any: 'name' }
    if (/^\d+$/.test(found)) return { any: found.length > 4 ? 'id' : 'number' }
    return { any: 'attribute' }
  })
  const constants: TextPart[] = text.split(variable)
  return constants
    .flatMap((constant, index) => [constant, kinds[index] ?? ''])
    .filter((part) => part !== '')
}

/** Captures the parts of an example that separate the name, the first key, its value and the second key. */
function between(example: string, start: number): RegExpExecArray | null {
  const { name, textKey, text, numberKey } = probe
  const pattern = `^${name}(.*?)${textKey}(.*?)${text}(.*?)${numberKey}`
  return new RegExp(pattern, 's').exec(example.slice(start))
}

/** Splits text into markers at line ends and between tags. */
export const toMarkers = (text: string): string[] =>
  text
    .replace(/functions\.$/, '')
    .replace(/\[\s*$/, '')
    .split(/(?<=>)\s*(?=<)|\s*\n\s*/)
    .map((marker) => marker.trim())
    .filter((marker) => marker !== '')

/** Removes from `text` the longest common suffix of `text` and `suffix`. */
function withoutSuffix(text: string, suffix: string): string {
  let length = 0
  while (length < suffix.length && text.at(-1 - length) === suffix.at(-1 - length)) length += 1
  const common = text.slice(text.length - length).replace(/^[^<>]*>/, '') // does not split a tag
  return text.slice(0, text.length - common.length)
}
