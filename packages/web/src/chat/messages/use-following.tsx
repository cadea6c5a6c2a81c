import { ArrowDown } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'

/** Maximum distance from the end of the chat at which the reader still counts as being at the end. */
const nearPx = 60

/** Keeps the end of the chat in view as the chat grows, unless the reader has scrolled up. */
export function useFollowing(conversationId: string) {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isFollowing = useRef(true)
  const lastTop = useRef(0)
  const [isAway, setAway] = useState(false)

  function toEnd() {
    const { current } = scroller
    if (current && isFollowing.current) current.scrollTop = current.scrollHeight
  }
  function follow() {
    isFollowing.current = true
    setAway(false)
    toEnd()
  }
  /**
   * Stops following the end of the chat if the reader scrolls up, but not if the content grows. Follows it again when
   * the reader returns to the end.
   */
  function onScroll() {
    const { current } = scroller
    if (!current) return
    const { scrollHeight, clientHeight, scrollTop } = current
    const isNear = scrollHeight - clientHeight - scrollTop <= nearPx
    if (isNear || scrollTop < lastTop.current) {
      isFollowing.current = isNear
      setAway(!isNear)
    }
    lastTop.current = scrollTop
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the conversation changes
  useEffect(follow, [conversationId])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect reads the current elements
  useEffect(() => {
    const observer = new ResizeObserver(toEnd)
    for (const { current } of [scroller, content]) if (current) observer.observe(current)
    return () => observer.disconnect()
  }, [])

  const button = isAway && (
    <div className="pointer-events-none absolute inset-x-0 bottom-full flex justify-center pb-2">
      <button
        type="button"
        className="ctl pointer-events-auto h-9 rounded-full text-[14px] shadow-[0_4px_16px_-6px_oklch(0.2_0.03_230/0.35)]"
        onClick={follow}
      >
        <ArrowDown size={16} aria-hidden />
        Jump to latest
      </button>
    </div>
  )
  return { scroller, content, onScroll, follow, button }
}
