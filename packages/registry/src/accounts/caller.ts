import type { Scope } from '@shoal/protocol'
import { forbidden, unauthenticated } from '../errors.ts'

/** The account on whose behalf a request is sent, and the credential that the request uses. */
export type Caller = {
  accountId: string
  username: string
  isAdmin: boolean
  credential: { kind: 'session' | 'key'; id: string; scopes: ReadonlyArray<Scope> }
}

/**
 * Determines which models are visible: public models, private models that `username` owns, private models of which the
 * account is a member, and, if `seesAll` is true, all models. If `username` is undefined, memberships are ignored.
 */
export type Viewer = {
  accountId: string | undefined
  username: string | undefined
  seesAll: boolean
}

export const anonymous: Viewer = { accountId: undefined, username: undefined, seesAll: false }

/**
 * Returns what the caller may see in an operation that requires this scope. An anonymous caller sees only public
 * models. A caller whose credential lacks this scope also sees only public models, unless the caller is an acting
 * administrator.
 */
export function toViewer(caller: Caller | undefined, scope: 'read' | 'write'): Viewer {
  if (!caller) return anonymous
  const isInScope = caller.credential.scopes.includes(scope)
  return {
    accountId: caller.accountId,
    username: isInScope ? caller.username : undefined,
    seesAll: isActingAdmin(caller),
  }
}

/** Whether the caller is an administrator who uses a credential with the scope `admin`. */
export function isActingAdmin(caller: Caller): boolean {
  return caller.isAdmin && caller.credential.scopes.includes('admin')
}

/** Returns the caller, or throws if the request is anonymous or its credential lacks this scope. */
export function callerWith(scope: Scope, caller: Caller | undefined): Caller {
  if (!caller) throw unauthenticated('this request requires a token: sign in first')
  if (!caller.credential.scopes.includes(scope)) {
    throw forbidden(`this API key does not have the scope "${scope}"`)
  }
  return caller
}

/**
 * Returns the caller. Throws if the request is not authenticated by a session, because API keys must not be used to
 * manage accounts.
 */
export function callerWithSession(caller: Caller | undefined): Caller {
  if (!caller) throw unauthenticated('this request requires a session token: sign in first')
  if (caller.credential.kind !== 'session') {
    throw forbidden('an API key cannot do this: sign in with your password')
  }
  return caller
}
