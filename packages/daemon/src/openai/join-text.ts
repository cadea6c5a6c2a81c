import type { MediaPart, ReadMedia } from '../http/media.ts'

type Part = MediaPart & { text?: string; refusal?: string }

type Options = {
  /** The name of the parameter that contains the parts. */
  param: string
  textTypes: readonly string[]
  readMedia: ReadMedia
}

/** Joins the text parts of `content`, and the texts with which `readMedia` replaces other parts. */
export function joinText(
  content: string | Part[] | null | undefined,
  { param, textTypes, readMedia }: Options,
): string {
  if (!Array.isArray(content)) return content ?? ''
  const texts = content.map((part) =>
    textTypes.includes(part.type) ? (part.text ?? part.refusal ?? '') : readMedia(part, param),
  )
  return texts.join('')
}
