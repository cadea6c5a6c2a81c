import { useEffect } from 'react'
import { useApp } from '../api/context.ts'
import type { Head } from '../api/head.ts'

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
