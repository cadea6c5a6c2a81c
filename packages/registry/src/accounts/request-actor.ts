import type { Actor } from '../audit/actor.ts'
import type { Caller } from './caller.ts'

type Request = { ip: string }

/** An IPv6 address with a zone may be longer than 45 characters, and a proxy may report anything. */
const maxAddressLength = 64

/** The caller of a request. */
export const callerActor = ({ ip }: Request, { username, credential }: Caller): Actor => ({
  username,
  credential: `${credential.kind} ${credential.id}`,
  address: ip.slice(0, maxAddressLength),
})

/** Someone who signs in or registers. */
export const newActor = ({ ip }: Request, username: string, credential: string): Actor => ({
  username,
  credential,
  address: ip.slice(0, maxAddressLength),
})
