/** The metadata of a page, for browsers and search engines. */
export type Head = {
  title: string
  description?: string
  /** The canonical path, without parameters that only sort or paginate. */
  path?: string
  /** A path on this registry. */
  image?: string
  /** Not indexed by search engines. */
  isHidden?: boolean
  /** https://schema.org, as JSON-LD. */
  data?: Record<string, unknown>
  feed?: string
}

/** Receives the metadata set by the innermost screen. */
export type HeadSink = { head: Head | undefined }
