/** Calls that share a model with other accounts, or transfer it to another account. */
import type { MemberRight } from '../model.ts'
import * as routes from '../routes/members.ts'
import { to } from './call.ts'
import type { Connection } from './connection.ts'

export function memberCalls({ json, nothing }: Connection) {
  return {
    /**
     * Lists the accounts with which a model is shared.
     * @example
     * const writers = (await client.listMembers('tide')).filter(({ right }) => right === 'write')
     */
    listMembers: (model: string, signal?: AbortSignal) =>
      json(to(routes.listMembers, { id: model }), { signal }),
    /**
     * Shares a model with an account, or changes the account's right.
     * @example
     * await client.setMember('tide', 'dana', 'read')
     */
    setMember: (model: string, username: string, right: MemberRight) =>
      json(to(routes.setMember, { id: model, username }), { body: { right } }),
    /**
     * Ends a membership.
     * @example
     * await client.removeMember('tide', 'dana')
     */
    removeMember: (model: string, username: string) =>
      nothing(to(routes.removeMember, { id: model, username })),
    /**
     * Makes another account the owner of a model.
     * @example
     * await client.transferModel('tide', 'dana')
     */
    transferModel: (model: string, username: string) =>
      nothing(to(routes.transferModel, { id: model }), { body: { username } }),
  }
}
