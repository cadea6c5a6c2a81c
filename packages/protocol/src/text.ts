/**
 * Rules for text from users and files. Control characters can disrupt terminals and make XML invalid: of the C0
 * controls, XML 1.0 (§2.2) allows only tabs and line breaks. Bidirectional control characters can make one name look
 * like another.
 */

/**
 * Characters that text must not contain: C0 and C1 controls except tab, line feed and carriage return; U+FFFE and
 * U+FFFF, which XML forbids; unpaired surrogates.
 */
const notText = /(?![\t\n\r])[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u
/**
 * Characters that a name must not contain. In addition to the characters in `notText`, these are tabs, line breaks,
 * line and paragraph separators (U+2028, U+2029), and bidirectional embeddings, overrides and isolates (Unicode UAX
 * #9).
 */
const notLine = /[\p{Cc}\p{Cs}\uFFFE\uFFFF\u2028\u2029\u202A-\u202E\u2066-\u2069]/u
/**
 * Visible characters: all except whitespace, control characters, unpaired surrogates and zero-width characters. The
 * blank Braille pattern (U+2800) is also excluded, because it is invisible, although Unicode does not classify it as
 * whitespace or zero-width.
 */
const visible = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Whether `text` is allowed as multi-line text. */
export const isText = (text: string): boolean => !notText.test(text)

/** Whether `text` is allowed as a name: one line with at least one visible character. */
export const isName = (text: string): boolean => !notLine.test(text) && !isBlank(text)

/** Whether the text has no visible characters. */
export const isBlank = (text: string): boolean => !visible.test(text)

/** Returns the text as one line, without the characters that `isName` rejects. */
export const plainLine = (text: string): string => text.replace(new RegExp(notLine, 'gu'), '')
