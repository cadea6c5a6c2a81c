import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'

declare module '@tanstack/react-router' {
  interface HistoryState {
    invitation?: string
  }
}

/**
 * Returns the secret from an invitation link, such as `/register#invitation=shi_…`. The secret is moved from the URL to
 * the state of the history entry, so that it is not copied or saved with the URL. The secret survives a reload.
 */
export function useInvitation(): string | undefined {
  const navigate = useNavigate()
  const { hash, state } = useLocation()
  const given = new URLSearchParams(hash).get('invitation')?.trim() || undefined
  useEffect(() => {
    if (given === undefined) return
    navigate({ to: '.', search: true, hash: '', state: { invitation: given }, replace: true })
  }, [given, navigate])
  return given ?? state.invitation
}
