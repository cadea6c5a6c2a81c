import { unsupported } from '../errors.ts'

type Part = { type: string; text?: string; refusal?: string }

/** Joins the parts of a text. Other parts, such as images, are refused. `param` is the parameter with the parts. */
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
