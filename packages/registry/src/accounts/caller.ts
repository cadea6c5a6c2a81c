import type { Scope } from '@shoal/protocol'
import { forbidden, unauthenticated } from '../errors.ts'

/** Who makes a call, as a valid credential shows. */
export type Caller = {
  accountId: string
  username: string
  isAdmin: boolean
  credential: { kind: 'session' | 'key'; id: string; scopes: ReadonlyArray<Scope> }
}

/** Whose models somebody may see besides the public ones. */
export type Viewer = {
  accountId: string | undefined
  username: string | undefined
  seesAll: boolean
}

export const anonymous: Viewer = { accountId: undefined, username: undefined, seesAll: false }

/** What the caller may see with this scope of its credential; a stranger sees what is public. */
export function toViewer(caller: Caller | undefined, scope: 'read' | 'write'): Viewer {
  if (!caller) return anonymous
  const isInScope = caller.credential.scopes.includes(scope)
  return {
    accountId: caller.accountId,
    username: isInScope ? caller.username : undefined,
    seesAll: isActingAdmin(caller),
  }
}

/** Whether the caller is an admin and its credential may be used as one. */
export function isActingAdmin(caller: Caller): boolean {
  return caller.isAdmin && caller.credential.scopes.includes('admin')
}

/** The caller, when there is one with this scope. */
export function callerWith(scope: Scope, caller: Caller | undefined): Caller {
  if (!caller) throw unauthenticated('sign in first: this call needs a token')
  if (!caller.credential.scopes.includes(scope)) {
    throw forbidden(`this API key does not have the scope "${scope}"`)
  }
  return caller
}

/** The caller, when it uses a session: API keys do not manage accounts. */
export function callerWithSession(caller: Caller | undefined): Caller {
  if (!caller) throw unauthenticated('sign in first: this call needs a session token')
  if (caller.credential.kind !== 'session') {
    throw forbidden('an API key cannot do this: sign in with your password')
  }
  return caller
}
