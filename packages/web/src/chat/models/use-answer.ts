import { useEffect, useState } from 'react'

export type Answer<T> = { value?: T; error?: unknown; isLoading: boolean }

/**
 * Calls `ask` when `key` changes. Returns the latest result, which is kept while the next one is loading. Results for
 * earlier keys are ignored.
 */
export function useAnswer<T>(key: string, ask: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ isLoading: true })
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the key changes
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
