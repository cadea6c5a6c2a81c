import { useEffect, useState } from 'react'

export type Answer<T> = { value?: T; error?: unknown; isLoading: boolean }

/**
 * Runs `ask` when `key` changes, and returns its latest result, which stays while the next one is loading. A result that
 * arrives too late is dropped.
 */
export function useAnswer<T>(key: string, ask: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ isLoading: true })
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says when to ask
  useEffect(() => {
    const abort = new AbortController()
    setAnswer(({ error: _, ...last }) => ({ ...last, isLoading: true }))
    ask(abort.signal).then(
      (value) => !abort.signal.aborted && setAnswer({ value, isLoading: false }),
      (error: unknown) => !abort.signal.aborted && setAnswer({ error, isLoading: false }),
    )
    return () => abort.abort()
  }, [key])
  return answer
}
