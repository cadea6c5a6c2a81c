import { findRegistryLabel, registryOption } from '@shoal/core/references'
import { registryLabel } from './address.ts'

/** A registry, and where the token comes from that is sent to it; undefined if none is. */
export type RegistryAccess = {
  address: string
  tokenFrom: 'sign-in' | 'SHOAL_TOKEN' | 'input' | undefined
}

/** Describes for the user why a registry requires a valid token, and how to provide one. */
export function aboutRefusedToken({ address, tokenFrom }: RegistryAccess) {
  const label = registryLabel(address)
  const login = `shoal login${registryOption(findRegistryLabel(address))}`
  switch (tokenFrom) {
    case 'sign-in':
      return {
        message: `Your sign-in to ${label} is no longer valid: it has expired or was revoked.`,
        hint: `To sign in again: ${login}`,
      }
    case 'SHOAL_TOKEN':
      return {
        message: `${label} does not accept the token in SHOAL_TOKEN: it is unknown, expired or revoked.`,
        hint: 'Set SHOAL_TOKEN to a valid token, or unset it.',
      }
    case 'input':
      return {
        message: `${label} does not accept this token: it is unknown, expired or revoked.`,
        hint: "Check that the token is complete, or create an API key on the registry's settings page.",
      }
    default:
      return {
        message: `You are not signed in to ${label}.`,
        hint: `Run ${login}, or set SHOAL_TOKEN.`,
      }
  }
}
