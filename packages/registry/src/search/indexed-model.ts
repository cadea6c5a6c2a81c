/** The properties of a model that the index stores. */
export type IndexedModel = {
  /** The sequence number of the model's row (`model.seq`). */
  seq: number
  id: string
  name: string
  displayName: string
  description: string | null
  owner: string
  architecture: string | null
  license: string | null
  tags: string[]
  quantizations: string[]
  isPublic: boolean
  /** The IDs of the accounts that a private model is shared with. */
  members?: string[]
  createdAt: string
} & ModelNumbers

/** Counts and sizes of a model, which often change while its text fields stay the same. */
export type ModelNumbers = {
  downloads: number
  likes: number
  parameterCount: number | null
  minFileSizeBytes: number | null
  minMemoryBytes: number | null
  /** The memory for the keys and values of one token of context. Null if it is unknown. */
  cacheBytesPerToken: number | null
  /** In tokens. */
  contextLength: number | null
  filesCount: number
  totalSizeBytes: number
}
