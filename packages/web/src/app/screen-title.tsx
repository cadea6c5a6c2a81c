import { type ReactNode, useEffect, useRef } from 'react'

let isFirstScreen = true

/** The h1 of a screen. It receives the focus after a navigation, so that screen readers announce the new page. */
export function ScreenTitle({ children, className }: { children: ReactNode; className?: string }) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (!isFirstScreen) title.current?.focus({ preventScroll: true })
    isFirstScreen = false
  }, [])
  return (
    <h1 ref={title} tabIndex={-1} className={className}>
      {children}
    </h1>
  )
}
