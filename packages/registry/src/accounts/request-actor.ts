import type { Actor } from '../audit/actor.ts'
import type { Caller } from './caller.ts'

type Request = { ip: string }

/** Long enough for an IPv6 address with a zone. Longer addresses are truncated, because a proxy may report anything. */
const maxAddressLength = 64

/** Returns the actor for an authenticated request. */
export const callerActor = ({ ip }: Request, { username, credential }: Caller): Actor => ({
  username,
  credential: `${credential.kind} ${credential.id}`,
  address: ip.slice(0, maxAddressLength),
})

/** Returns the actor for a sign-in or a registration. */
export const newActor = ({ ip }: Request, username: string, credential: string): Actor => ({
  username,
  credential,
  address: ip.slice(0, maxAddressLength),
})
