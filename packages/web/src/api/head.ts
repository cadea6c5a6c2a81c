/** What a page says of itself to browsers and search engines. */
export type Head = {
  title: string
  description?: string
  /** The page's own address, without what only sorts or pages it. */
  path?: string
  /** A path on this registry. */
  image?: string
  /** A page that search engines are to leave alone. */
  isHidden?: boolean
  /** https://schema.org, as JSON-LD. */
  data?: Record<string, unknown>
  feed?: string
}

/** Takes what the innermost screen says of the page. */
export type HeadSink = { head: Head | undefined }
