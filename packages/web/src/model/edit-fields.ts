import type { ModelChanges, ModelRecord, User } from '@shoal/protocol/client'

/** The values of the edit form. An empty string means that there is no value. */
export type EditFields = {
  name: string
  display_name: string
  description: string
  license: string
  /** Separated by commas. */
  tags: string
  readme: string
  is_public: boolean
}

export const fieldsOf = (model: ModelRecord): EditFields => ({
  name: model.name,
  display_name: model.display_name,
  description: model.description ?? '',
  license: model.license ?? '',
  tags: model.tags.join(', '),
  readme: model.readme ?? '',
  is_public: model.is_public,
})

/** Returns the fields that differ from their saved values. */
export const keepChanged = (fields: EditFields, saved: EditFields): Partial<EditFields> =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== saved[name as keyof EditFields]),
  )

/**
 * Converts changed fields to a request. The request contains no other fields, because someone else may have changed
 * them since the form was opened or the draft was written.
 */
export function toModelChanges({
  name,
  display_name,
  description,
  license,
  tags,
  readme,
  is_public,
}: Partial<EditFields>): ModelChanges {
  return {
    ...(name !== undefined && { name: name.trim() }),
    ...(display_name !== undefined && { display_name: display_name.trim() }),
    ...(description !== undefined && { description: description.trim() || null }),
    ...(license !== undefined && { license: license.trim() || null }),
    ...(tags !== undefined && { tags: parseTags(tags) }),
    ...(readme !== undefined && { readme: readme || null }),
    ...(is_public !== undefined && { is_public }),
  }
}

function parseTags(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return [...new Set(tags.filter((tag) => tag !== ''))]
}

/** Returns the key of a user’s draft for a model. */
export const draftKey = ({ username }: User, { id }: ModelRecord) => ({
  username,
  form: `model ${id}`,
})
