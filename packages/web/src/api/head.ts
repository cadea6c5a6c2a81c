/** The metadata of a page, for browsers and search engines. */
export type Head = {
  title: string
  description?: string
  /** The canonical path, without parameters that only sort or paginate. */
  path?: string
  /** The path of the preview image on this registry. */
  image?: string
  /** Whether search engines are asked not to index the page. */
  isHidden?: boolean
  /** Structured data (https://schema.org) as JSON-LD. */
  data?: Record<string, unknown>
  feed?: string
}

/** Receives the metadata set by the innermost screen. */
export type HeadSink = { head: Head | undefined }
