import katex from 'katex'

/** Maximum number of characters. Even the largest formulas in papers have fewer than a thousand. */
const maxLength = 4_000
/** Maximum depth of the MathML. With deeper nesting, layout becomes slow. */
const maxDepth = 60
/** Maximum size that a formula can set for a space or a rule, in em. */
const maxSizeEm = 20
/** Maximum number of macro expansions. KaTeX defines commands such as `\iff` as macros. */
const maxExpand = 500

/**
 * Commands that define macros. Formulas that contain them are not rendered; otherwise, a formula could use a long macro
 * hundreds of times.
 */
const definitions =
  /\\(?:def|gdef|edef|xdef|let|futurelet|global|long|newcommand|renewcommand|providecommand)(?![a-z])/i

/**
 * Renders a TeX formula as MathML, which browsers display without styles, fonts or scripts. Returns undefined if the
 * formula is invalid or exceeds a limit. The result contains no links, images, styles or colors.
 */
export function renderMath(tex: string, isDisplay: boolean): string | undefined {
  if (tex.length > maxLength || definitions.test(tex)) return undefined
  try {
    const html = katex.renderToString(tex, {
      output: 'mathml',
      displayMode: isDisplay,
      trust: false,
      strict: 'ignore',
      maxSize: maxSizeEm,
      maxExpand,
    })
    return toMathml(html)
  } catch (error) {
    // A formula can be invalid, or nested so deeply that KaTeX overflows the call stack.
    if (error instanceof katex.ParseError || error instanceof RangeError) return undefined
    throw error
  }
}

const elements = new Set([
  ...['math', 'mrow', 'mi', 'mn', 'mo', 'mtext', 'mspace', 'msup', 'msub', 'msubsup', 'mfrac'],
  ...['msqrt', 'mroot', 'mover', 'munder', 'munderover', 'mtable', 'mtr', 'mtd', 'mstyle'],
  ...['mpadded', 'mphantom', 'menclose'],
])
const attributes = new Set([
  ...['display', 'displaystyle', 'scriptlevel', 'mathvariant', 'stretchy', 'fence', 'separator'],
  ...['accent', 'accentunder', 'largeop', 'movablelimits', 'linethickness', 'minsize', 'maxsize'],
  ...['lspace', 'rspace', 'width', 'height', 'depth', 'voffset', 'notation', 'columnalign'],
  ...['columnspacing', 'rowspacing', 'columnlines', 'rowlines'],
])
const tagPattern = /<(\/?)([a-z]+)((?: [a-z-]+="[^"<>]*")*)(\/?)>/g

/** Keeps only known elements and attributes. Removes the annotation with the source, which is not displayed. */
function toMathml(html: string): string | undefined {
  let depth = 0
  let deepest = 0
  const mathml = html
    .replace(/<annotation [^>]*>[^<]*<\/annotation>/g, '')
    .replace(tagPattern, (_, end: string, name: string, given: string, empty: string) => {
      if (!elements.has(name)) return ''
      if (!empty) depth += end ? -1 : 1
      deepest = Math.max(deepest, depth)
      return `<${end}${name}${keepAttributes(given)}${empty}>`
    })
  const isClean = !/[<>]/.test(mathml.replace(tagPattern, ''))
  return isClean && depth === 0 && deepest <= maxDepth ? mathml : undefined
}

const keepAttributes = (given: string): string =>
  Array.from(given.matchAll(/ ([a-z-]+)="([^"]*)"/g))
    .filter(([, name = '', value = '']) => attributes.has(name) && isSmall(name, value))
    .map(([attribute]) => attribute)
    .join('')

/** Whether a length is so small that the formula stays near its place on the page. */
function isSmall(name: string, value: string): boolean {
  const [, number] = /^([+-]?[\d.]+)[a-z%]+$/.exec(value) ?? []
  if (number === undefined) return true
  return Math.abs(Number(number)) <= (name === 'voffset' ? 2 : maxSizeEm)
}
