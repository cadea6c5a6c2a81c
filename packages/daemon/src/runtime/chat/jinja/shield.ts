/**
 * Keeps the values in a prompt apart from the template's own text. A message, a tool's result or a description may
 * contain the text of a control token, such as `<|im_end|>`, and must not end a turn with it.
 *
 * Before a chat is rendered, each character in its values of which control tokens consist is replaced with a
 * noncharacter: a code point that Unicode reserves for use within a program (Unicode 16, section 23.7). Templates pass
 * such characters through like any others, whichever filters, methods and operators they apply. Where a template
 * searches or compares text, `alike` and `unshield` make both sides comparable. In the rendered prompt, the text of a
 * control token without shielded characters is from the template; any other is text (`forged-tokens.ts`).
 */

/**
 * The characters that are shielded. They enclose the names in control tokens, as in `<|im_end|>`, `[INST]` and
 * `<｜end▁of▁sentence｜>`. None of them has a meaning in JSON strings, formats or whitespace. A template may therefore
 * still enclose a value's words in such characters, as in `'<|' + message.role + '|>'`.
 */
const frames = '<>[]|｜▁'
const firstShield = 0xfdd0
const lastShield = firstShield + frames.length - 1
const shields = `\\u{${firstShield.toString(16)}}-\\u{${lastShield.toString(16)}}`
const anyShield = new RegExp(`[${shields}]`, 'u')
const allShields = new RegExp(anyShield, 'gu')
const anyFrame = new RegExp(`[${frames.replace(/[[\]]/g, '\\$&')}]`, 'u')
const framesAndShields = new RegExp(`[${frames.replace(/[[\]]/g, '\\$&')}${shields}]`, 'gu')
/** Matches the strings in JSON text. */
const jsonStrings = /"(?:[^"\\]|\\.)*"/g

/** Whether a text contains characters that would be shielded in a value. */
export const hasFrames = (text: string): boolean => anyFrame.test(text)

/** Shields a text. If a client sends a noncharacter that is used here, it becomes U+FFFD. */
export const shield = (text: string): string =>
  text.replace(framesAndShields, (char) => {
    const index = frames.indexOf(char)
    return index === -1 ? '\ufffd' : String.fromCharCode(firstShield + index)
  })

/** Returns the original text. */
export const unshield = (text: string): string =>
  anyShield.test(text)
    ? text.replace(allShields, (char) => frames.charAt(char.charCodeAt(0) - firstShield))
    : text

/** Whether two texts are the same, wherever their characters are from. */
export const isSameText = (one: string, other: string): boolean =>
  one === other || (one.length === other.length && unshield(one) === unshield(other))

/** The position of the first shielded character; -1 if there is none. */
export const findShield = (text: string): number => text.search(anyShield)

/** Shields all strings in a JSON value, and the keys of its objects. */
export function shieldAll<T>(value: T): T {
  if (typeof value === 'string') return shield(value) as T
  if (Array.isArray(value)) return value.map(shieldAll) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [shield(key), shieldAll(member)]),
  ) as T
}

/** Shields the strings in JSON text, which remains valid. Shields all of a text that is not valid JSON. */
export const shieldJson = (text: string, isValid: boolean): string =>
  isValid ? text.replace(jsonStrings, shield) : shield(text)

/**
 * Returns a text and a part to search for in it, so that a search finds the part wherever its characters are from: all
 * occurrences of the part are shielded.
 */
export function alike(text: string, part: string): [text: string, part: string] {
  const wanted = unshield(part)
  let end = -wanted.length
  const others = unshield(text)
    .split(wanted)
    .map(({ length }) => {
      const start = end + wanted.length
      end = start + length
      return text.slice(start, end)
    })
  const shielded = shield(wanted)
  return [others.join(shielded), shielded]
}

/** Undoes that JSON has escaped shielded characters, which are not ASCII, unless JSON escapes the original too. */
export const restoreEscaped = (json: string): string =>
  json.replace(/\\(?:u([0-9a-f]{4})|.)/g, (found, code = '') => {
    const char = String.fromCharCode(Number.parseInt(code, 16))
    const original = unshield(char)
    if (original === char) return found
    const originalCode = original.charCodeAt(0)
    return originalCode < 0x80 ? char : `\\u${originalCode.toString(16)}`
  })
