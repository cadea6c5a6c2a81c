import type { NewModel } from '@shoal/protocol/client'

/** The form fields that describe a model. */
export type Details = {
  name: string
  displayName: string
  license: string
  /** Tags, separated by commas. */
  tags: string
  description: string
  readme: string
  isPublic: boolean
}

export type DetailErrors = Partial<Record<keyof Details | 'files', string>>

/** The registry's rules, as defined in `packages/protocol/src/model.ts`. */
const namePattern = /^[a-z0-9][a-z0-9._-]{0,94}[a-z0-9]$/
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const most = { displayName: 200, license: 100, description: 2000, tag: 64, tags: 64 }
const maxReadmeLength = 512 * 1024

export function findNameProblem(name: string): string | undefined {
  if (name === '') return 'Enter a name for the model.'
  const isSlug = namePattern.test(name) && !uuidPattern.test(name) && name !== 'chunks'
  if (isSlug) return undefined
  return 'Use 2 to 96 characters: lowercase letters, digits, dots, hyphens or underscores. Start and end with a letter or digit. UUIDs and “chunks” are not allowed.'
}

export function findDetailErrors(details: Details): DetailErrors {
  const { name, displayName, license, description, readme } = details
  const tags = parseTags(details)
  const errors: Record<keyof DetailErrors & string, string | undefined | false> = {
    name: findNameProblem(name),
    displayName: displayName.length > most.displayName && tooLong(most.displayName),
    license: license.length > most.license && tooLong(most.license),
    tags:
      (tags.length > most.tags && `At most ${most.tags} tags.`) ||
      (tags.some(({ length }) => length > most.tag) &&
        `A tag can have at most ${most.tag} characters.`),
    description: description.length > most.description && tooLong(most.description),
    readme: readme.length > maxReadmeLength && tooLong(maxReadmeLength),
    isPublic: undefined,
    files: undefined,
  }
  return Object.fromEntries(Object.entries(errors).filter(([, error]) => error))
}

/** Returns the request to the registry, without empty fields. */
export function toNewModel(details: Details): NewModel {
  const { name, isPublic } = details
  const displayName = details.displayName.trim()
  const license = details.license.trim()
  const description = details.description.trim()
  const tags = parseTags(details)
  return {
    name,
    is_public: isPublic,
    ...(displayName && { display_name: displayName }),
    ...(license && { license }),
    ...(description && { description }),
    ...(tags.length > 0 && { tags }),
    ...(details.readme.trim() && { readme: details.readme }),
  }
}

function parseTags({ tags }: Details): string[] {
  const written = tags.split(',').map((tag) => tag.trim())
  return [...new Set(written.filter((tag) => tag !== ''))]
}

const tooLong = (length: number) => `At most ${length.toLocaleString('en')} characters.`
