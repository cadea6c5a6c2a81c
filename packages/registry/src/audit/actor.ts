/** The user or administrator who performs an action, with the credential and the client's address. */
export type Actor = {
  /** A username; null for a command on the registry's host. */
  username: string | null
  /** `session <id>`, `key <id>`, `invitation <id>`, `password` or `host`. */
  credential: string
  /** The client's IP address; null for a command on the registry's host. */
  address: string | null
}

/** An administrator who runs a command on the registry's host. */
export const hostActor: Actor = { username: null, credential: 'host', address: null }
