import { useEffect } from 'react'
import { useApp } from '../api/context.ts'

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

export const siteName = 'shoal'
export const titleOf = ({ title }: Head) => (title === siteName ? title : `${title} · ${siteName}`)

/** Says what a page is: to the browser's tab, and in print to search engines and to previews of links. */
export function PageHead(head: Head) {
  const { head: sink } = useApp()
  if (sink) sink.head = head
  const title = titleOf(head)
  useEffect(() => {
    document.title = title
  }, [title])
  return null
}
