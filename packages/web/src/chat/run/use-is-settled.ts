import { useEffect, useState } from 'react'

const settledAfterMs = 700

/**
 * Whether the page has been visible for a moment. Until then, all buttons except “Cancel” are disabled, because another
 * page could have opened this page just before the second click of a double-click.
 */
export function useIsSettled(): boolean {
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    function restart() {
      clearTimeout(timer)
      setSettled(false)
      if (!document.hidden) timer = setTimeout(setSettled, settledAfterMs, true)
    }
    restart()
    document.addEventListener('visibilitychange', restart)
    addEventListener('focus', restart)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', restart)
      removeEventListener('focus', restart)
    }
  }, [])
  return isSettled
}
