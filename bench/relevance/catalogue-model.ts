export type CatalogueModel = Facts & {
  name: string
  display_name: string | null
  description: string | null
  tags: string[]
  owner: string
  license: string
  downloads: number
}

/** The facts that determine how well a model matches a query, whether or not the model's name and tags reflect them. */
export type Facts = {
  family: string
  version: string
  /** A product line within the family, or the name of a fine-tune. Empty for the family's main models. */
  line: string
  /** The version of a fine-tune, such as the 3 in Hermes 3. */
  edition: string
  /** The size as written in names: `8b`, `8x7b`, `large`. */
  size: string
  variant: string
  /** What the model is good at, and its main languages other than English. */
  uses: readonly string[]
  origin: 'official' | 'fine-tune' | 'repack' | 'abliterated' | 'community'
  architecture: string
  parameter_count: number
}
