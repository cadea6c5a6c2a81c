/** What stands in a line of Markdown. */
export type Span =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'emphasis' | 'deleted'; spans: Span[] }
  | { kind: 'link'; href: string; spans: Span[] }
  | { kind: 'break' }

const deepest = 6
/** Where something other than text may begin. */
const beginning = /[\\`*_~[!]|https?:\/\/| {2,9}\n/g

type Pattern = { at: RegExp; span: (match: RegExpExecArray, depth: number) => Span }

/** Each repetition has a bound, so that no text takes long. */
const patterns: Pattern[] = [
  { at: /\\([!-/:-@[-`{-~])/y, span: ([, text = '']) => ({ kind: 'text', text }) },
  { at: /(?: {2,9}|\\)\n/y, span: () => ({ kind: 'break' }) },
  { at: /(?<!`)(`{1,8})(?!`)(.{1,1000}?)(?<!`)\1(?!`)/sy, span: ([, , text = '']) => codeOf(text) },
  {
    at: /!?\[((?:[^[\]\\]|\\.){0,500})\]\(\s{0,9}<?([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500})?)>?(?:\s{1,9}"[^"]{0,500}")?\s{0,9}\)/y,
    span: ([, text = '', href = ''], depth) => linkOf(href, spansOf(text || href, depth + 1)),
  },
  {
    at: /https?:\/\/[^\s<>"'`)\]]{0,2000}[^\s<>"'`)\].,;:!?*_]/y,
    span: ([href]) => linkOf(href, [{ kind: 'text', text: href }]),
  },
  nested('strong', /\*\*(?=\S)(.{1,500}?)(?<=\S)\*\*(?!\*)/sy),
  nested('strong', /(?<!\w)__(?=\S)(.{1,500}?)(?<=\S)__(?!\w)/sy),
  nested('deleted', /~~(?=\S)(.{1,500}?)(?<=\S)~~/sy),
  nested('emphasis', /(?<![*\w])\*(?=[^\s*])([^*]{1,500}?)(?<=\S)\*(?!\*)/y),
  nested('emphasis', /(?<![_\w])_(?=[^\s_])([^_]{1,500}?)(?<=\S)_(?!\w)/y),
]

export function spansOf(source: string, depth = 0): Span[] {
  if (depth > deepest) return [{ kind: 'text', text: source }]
  const spans: Span[] = []
  let taken = 0
  let from = 0
  while (true) {
    const start = indexOfBeginning(source, from)
    if (start === undefined) break
    const found = spanAt(source, start, depth)
    if (found) {
      if (start > taken) spans.push({ kind: 'text', text: source.slice(taken, start) })
      spans.push(found.span)
      taken = found.end
    }
    from = found?.end ?? start + 1
  }
  if (taken < source.length) spans.push({ kind: 'text', text: source.slice(taken) })
  return spans
}

function indexOfBeginning(source: string, from: number): number | undefined {
  beginning.lastIndex = from
  return beginning.exec(source)?.index
}

function spanAt(source: string, start: number, depth: number) {
  for (const { at, span } of patterns) {
    at.lastIndex = start
    const match = at.exec(source)
    if (match) return { end: start + match[0].length, span: span(match, depth) }
  }
  return undefined
}

function nested(kind: 'strong' | 'emphasis' | 'deleted', at: RegExp): Pattern {
  return { at, span: ([, text = ''], depth) => ({ kind, spans: spansOf(text, depth + 1) }) }
}

function codeOf(text: string): Span {
  const line = text.replaceAll('\n', ' ')
  return { kind: 'code', text: /^ .*[^ ].* $/.test(line) ? line.slice(1, -1) : line }
}

/** Only where a click on it does no harm; other addresses stay what they are, text. */
function linkOf(href: string, spans: Span[]): Span {
  const isSafe = URL.canParse(href) && /^(https?|mailto):$/.test(new URL(href).protocol)
  if (isSafe) return { kind: 'link', href, spans }
  const text = textOf(spans)
  return { kind: 'text', text: text === href ? text : `${text} (${href})` }
}

export function textOf(spans: readonly Span[]): string {
  return spans
    .map((span) =>
      'spans' in span ? textOf(span.spans) : span.kind === 'break' ? '\n' : span.text,
    )
    .join('')
}
