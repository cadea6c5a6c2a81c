import { unsupported } from '../errors.ts'

type Part = { type: string; text?: string; refusal?: string }

/**
 * Joins the text parts of `content`. Throws a `Fault` if it has another part, such as an image. `param` is the name of
 * the parameter that contains the parts.
 */
export function joinText(
  content: string | Part[] | null | undefined,
  param: string,
  textTypes: readonly string[],
): string {
  if (!Array.isArray(content)) return content ?? ''
  const strange = content.find(({ type }) => !textTypes.includes(type))
  if (strange) {
    throw unsupported(param, `of type ${strange.type} is not supported: it must be text`)
  }
  return content.map(({ text, refusal }) => text ?? refusal ?? '').join('')
}
