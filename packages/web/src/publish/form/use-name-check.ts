import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useClient } from '../../api/context.ts'
import { lookUpModel } from '../jobs/open-model.ts'
import { findNameProblem } from './details.ts'

const pauseMs = 300

export type NameCheck = ReturnType<typeof useNameCheck>

/**
 * Checks, while the visitor types, whether a model name is free, used by a model that the visitor can change, or taken
 * by another model.
 */
export function useNameCheck(name: string) {
  const client = useClient()
  const settled = useSettled(name)
  const problem = findNameProblem(name)
  const { data, isError, isFetching } = useQuery({
    queryKey: ['name', settled],
    queryFn: ({ signal }) => lookUpModel(client, settled, signal),
    enabled: problem === undefined && settled === name,
    staleTime: 10_000,
  })
  const known = settled === name && problem === undefined && !isError ? data : undefined
  const isMine = known?.can_write === true
  return {
    /** The model with this name, if the visitor can change it. */
    model: isMine ? known : undefined,
    isFree: known === null,
    isChecking: problem === undefined && (settled !== name || isFetching) && known === undefined,
    /**
     * The error in the name. The form decides when to show it, because the name is empty, and therefore invalid, before
     * the visitor has chosen a file or typed anything.
     */
    error: problem ?? (known && !isMine ? `Already taken by ${known.owner}.` : undefined),
  }
}

/** Returns the text as it was at the last pause in typing. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(setSettled, pauseMs, text)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
