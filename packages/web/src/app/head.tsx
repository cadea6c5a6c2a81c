import { useEffect } from 'react'
import { useApp } from '../api/context.ts'
import type { Head } from '../api/head.ts'

export const siteName = 'shoal'
export const formatTitle = ({ title }: Head) =>
  title === siteName ? title : `${title} · ${siteName}`

/** Sets the title of the browser tab and, on the server, the metadata for search engines and link previews. */
export function PageHead(head: Head) {
  const { head: sink } = useApp()
  if (sink) sink.head = head
  const title = formatTitle(head)
  useEffect(() => {
    document.title = title
  }, [title])
  return null
}
