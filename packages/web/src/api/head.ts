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

export type HeadSink = {
  /** The metadata set by the innermost screen. */
  head: Head | undefined
  /** The name of the model that the page is about. The URL may contain the model's ID or a former name instead. */
  modelName: string | undefined
}
