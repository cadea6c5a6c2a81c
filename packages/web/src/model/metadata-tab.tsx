import type { ModelFile, ModelRecord } from '@shoal/protocol/client'

export function MetadataTab(_: { model: ModelRecord; files: readonly ModelFile[] | undefined }) {
  return null
}
