export type CatalogueModel = Facts & {
  name: string
  display_name: string | null
  description: string | null
  tags: string[]
  owner: string
  license: string
  downloads: number
}

/** What a model is, whatever its name and its tags say: the judgments use these. */
export type Facts = {
  family: string
  version: string
  /** A product within the family or the name of a fine-tune; empty for the family's main models. */
  line: string
  /** The version of a fine-tune, as in Hermes 3. */
  edition: string
  /** As it is written in names: `8b`, `8x7b`, `large`. */
  size: string
  variant: string
  /** What it is good at, and its main languages other than English. */
  uses: readonly string[]
  origin: 'official' | 'fine-tune' | 'repack' | 'abliterated' | 'community'
  architecture: string
  parameter_count: number
}
