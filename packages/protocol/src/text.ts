/**
 * What the registry takes as text from people and files. Control characters break XML (1.0 §2.2 allows only tab and line
 * breaks) and terminals; characters that turn the direction of writing around make one name look like another.
 */

/** C0 and C1 without tab, line feed and carriage return; U+FFFE and U+FFFF, which no XML may hold; half a surrogate pair. */
const notText = /(?![\t\n\r])[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u
/** Also what ends a line (U+2028, U+2029), and bidirectional embeddings, overrides and isolates (Unicode UAX #9). */
const notLine = /[\p{Cc}\p{Cs}\uFFFE\uFFFF\u2028\u2029\u202A-\u202E\u2066-\u2069]/u
/** Neither white space nor zero width. U+2800, the empty Braille pattern, is neither to Unicode, and yet shows nothing. */
const visible = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Whether this can be shown as text of several lines. */
export const isText = (text: string): boolean => !notText.test(text)

/** Whether this can name something: one line, with at least one character to be seen. */
export const isName = (text: string): boolean => !notLine.test(text) && !isBlank(text)

/** Whether nothing of this can be seen. */
export const isBlank = (text: string): boolean => !visible.test(text)

/** The text as one line without the characters that `isName` refuses. */
export const plainLine = (text: string): string => text.replace(new RegExp(notLine, 'gu'), '')
