import { type ReactNode, useEffect, useRef } from 'react'

let isFirstScreen = true

/**
 * The h1 of a screen. It receives the focus after a navigation, so that screen readers announce the new page, unless the
 * visitor is typing in the search box, which stays.
 */
export function ScreenTitle({ children, className }: { children: ReactNode; className?: string }) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const isSearching = document.activeElement?.matches('input[type=search]')
    if (!isFirstScreen && !isSearching) title.current?.focus({ preventScroll: true })
    isFirstScreen = false
  }, [])
  return (
    <h1 ref={title} tabIndex={-1} className={className}>
      {children}
    </h1>
  )
}
