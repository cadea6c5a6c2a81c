/** Calls that create an account, sign in and out, and get the caller’s account. */
import type { Login, Registration } from '../account.ts'
import * as routes from '../routes/accounts.ts'
import { to } from './call.ts'
import type { Connection } from './connection.ts'

export function accountCalls({ json, nothing }: Connection) {
  return {
    /**
     * Returns the registry's settings that concern visitors.
     * @example
     * const { registration_open } = await client.getRegistry()
     */
    getRegistry: (signal?: AbortSignal) => json(to(routes.getRegistry), { signal }),
    /**
     * Creates an account, and starts a session for it.
     * @example
     * const { access_token } = await client.register({ username: 'ben', password: 'a long password' })
     */
    register: (registration: Registration) => json(to(routes.register), { body: registration }),
    /**
     * Starts a session.
     * @example
     * const { access_token } = await client.login({ username: 'ben', password: 'a long password' })
     */
    login: (credentials: Login) => json(to(routes.login), { body: credentials }),
    /**
     * Ends the session to which the client's token belongs.
     * @example
     * const { access_token } = await client.login({ username: 'ben', password: 'a long password' })
     * await client.with({ token: access_token }).logout()
     */
    logout: () => nothing(to(routes.logout)),
    /**
     * Returns the account to which the client's token belongs, with its role and usage.
     * @example
     * const { username, usage } = await client.getMe()
     */
    getMe: (signal?: AbortSignal) => json(to(routes.getMe), { signal }),
  }
}
