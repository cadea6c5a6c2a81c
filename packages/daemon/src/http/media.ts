/**
 * Content that models cannot read, such as images. In the history of a conversation and in the results of tools, a note
 * in the prompt takes its place, because a client sends the same history with each request. If the user sends such
 * content in a new message, or if the setting says so, the request is refused.
 */
import type { DaemonConfig } from '../config.ts'
import { type Fault, unsupported } from '../errors.ts'
import { readImageSize } from './image-size.ts'

/** A part of a message that is not text, in the format of any API. */
export type MediaPart = {
  type: string
  image_url?: unknown
  source?: unknown
  title?: unknown
  file?: unknown
  filename?: unknown
}

/** Returns the text that takes a part's place, or throws a `Fault`. `param` is the name of the part's parameter. */
export type ReadMedia = (part: MediaPart, param: string) => string

export type MediaSettings = Pick<DaemonConfig, 'refusesMedia'>

type Kind = { name: string; verb: string }

const kinds: [type: RegExp, kind: Kind][] = [
  [/image/, { name: 'image', verb: 'see' }],
  [/video/, { name: 'video', verb: 'see' }],
  [/audio/, { name: 'audio', verb: 'hear' }],
  [/file|document/, { name: 'document', verb: 'read' }],
]

const noteMedia: ReadMedia = (part, param) => {
  const kind = findKind(part)
  if (!kind) throw notText(part, param)
  const detail = kind.name === 'image' ? formatSize(part) : getFilename(part)
  return `[${kind.name}${detail}: this model cannot ${kind.verb} it]`
}

const refuseMedia: ReadMedia = (part, param) => {
  const kind = findKind(part)
  if (!kind) throw notText(part, param)
  const { name, verb } = kind
  throw unsupported(
    param,
    `of type ${part.type} is not supported: this model cannot ${verb} the ${name}`,
  )
}

/** Returns how to read each message of a conversation. `roles` are the roles of its messages, with `tool` for results. */
export function mediaReaders(
  roles: readonly string[],
  { refusesMedia }: MediaSettings,
): (index: number) => ReadMedia {
  const isInstruction = (role: string | undefined) => role === 'system' || role === 'developer'
  const last = roles.findLastIndex((role) => !isInstruction(role))
  // Some clients send an image from a tool's result in a user message after the result.
  const before = roles.slice(0, last).findLast((role) => role !== 'user' && !isInstruction(role))
  const isNew = roles[last] === 'user' && before !== 'tool'
  return (index) => (refusesMedia || (isNew && index === last) ? refuseMedia : noteMedia)
}

const findKind = ({ type }: MediaPart): Kind | undefined =>
  kinds.find(([pattern]) => pattern.test(type))?.[1]

function notText({ type }: MediaPart, param: string): Fault {
  return unsupported(param, `of type ${type} is not supported: it must be text`)
}

/** Headers of JPEG files can contain a preview, so the size may be far from the beginning. */
const maxHeaderCharacters = 400_000

function formatSize({ image_url, source }: MediaPart): string {
  const url = typeof image_url === 'string' ? image_url : member(image_url, 'url')
  const data = member(source, 'data') ?? /^data:[^,]*;base64,(.*)/s.exec(url ?? '')?.[1] ?? ''
  const size = readImageSize(Buffer.from(data.slice(0, maxHeaderCharacters), 'base64'))
  return size ? ` ${size.width}×${size.height}` : ''
}

function getFilename({ title, filename, file }: MediaPart): string {
  const name = [title, filename, member(file, 'filename')].find((one) => typeof one === 'string')
  return name ? ` ${name}` : ''
}

function member(value: unknown, name: string): string | undefined {
  const found = (Object(value) as Record<string, unknown>)[name]
  return typeof found === 'string' ? found : undefined
}
