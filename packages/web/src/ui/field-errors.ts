import { ApiError } from '@shoal/protocol/client'
import { useEffect, useRef } from 'react'
import { sentence } from './sentence.ts'

/** Returns the errors of individual fields by path, such as `{ '/password': 'Is too short.' }`. */
export function fieldErrors(error: Error | null): Record<string, string> {
  const { errors = [] } = error instanceof ApiError ? error.problem : {}
  return Object.fromEntries(errors.map(({ path, message }) => [path, sentence(message)]))
}

/**
 * Returns a ref for a form. After the registry has rejected the form, focuses its first invalid field, or its first
 * field if none is marked as invalid.
 */
export function useFocusOnError(error: Error | null) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (!error) return
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    const first = wrong ?? form.current?.querySelector<HTMLElement>('input')
    first?.focus()
  }, [error])
  return form
}
