import type { Scope } from '@shoal/protocol'
import { forbidden, unauthenticated } from '../errors.ts'

/** The owner of a request's valid credential. */
export type Caller = {
  accountId: string
  username: string
  isAdmin: boolean
  credential: { kind: 'session' | 'key'; id: string; scopes: ReadonlyArray<Scope> }
}

/** The user whose private models are visible in addition to the public models. */
export type Viewer = {
  accountId: string | undefined
  username: string | undefined
  seesAll: boolean
}

export const anonymous: Viewer = { accountId: undefined, username: undefined, seesAll: false }

/** What the caller may see with this scope of its credential. Anonymous callers see what is public. */
export function toViewer(caller: Caller | undefined, scope: 'read' | 'write'): Viewer {
  if (!caller) return anonymous
  const isInScope = caller.credential.scopes.includes(scope)
  return {
    accountId: caller.accountId,
    username: isInScope ? caller.username : undefined,
    seesAll: isActingAdmin(caller),
  }
}

/** Whether the caller is an admin and its credential has the scope `admin`. */
export function isActingAdmin(caller: Caller): boolean {
  return caller.isAdmin && caller.credential.scopes.includes('admin')
}

/** Returns the caller. Throws unless it has this scope. */
export function callerWith(scope: Scope, caller: Caller | undefined): Caller {
  if (!caller) throw unauthenticated('sign in first: this call needs a token')
  if (!caller.credential.scopes.includes(scope)) {
    throw forbidden(`this API key does not have the scope "${scope}"`)
  }
  return caller
}

/** Returns the caller. Throws unless it uses a session: API keys cannot manage accounts. */
export function callerWithSession(caller: Caller | undefined): Caller {
  if (!caller) throw unauthenticated('sign in first: this call needs a session token')
  if (caller.credential.kind !== 'session') {
    throw forbidden('an API key cannot do this: sign in with your password')
  }
  return caller
}
