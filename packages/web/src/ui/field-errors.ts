import { ApiError } from '@shoal/protocol/client'
import { useEffect, useRef } from 'react'

/** Returns the errors of individual fields by path, such as `{ '/password': 'Is too short.' }`. */
export function fieldErrors(error: Error | null): Record<string, string> {
  const { errors = [] } = error instanceof ApiError ? error.problem : {}
  return Object.fromEntries(errors.map(({ path, message }) => [path, sentence(message)]))
}

export const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`

/** Focuses the first invalid field after the registry has rejected a form. */
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
