/** The endpoints for administrators. */
import Type from 'typebox'
import { ApiKey } from './account.ts'
import {
  AdminUser,
  AuditEntry,
  AuditQuery,
  CreatedInvitation,
  CreatedUser,
  Invitation,
  NewInvitation,
  NewUser,
  PasswordReset,
  RegistryStatus,
  UserChanges,
  UserRemoval,
} from './admin.ts'
import { Empty, refTo } from './common.ts'
import * as routes from './routes.ts'

const IdPath = Type.Object({ id: Type.String() })
const UserPath = Type.Object({ username: Type.String() })
const adminOnly = "Requires an administrator's account and, with an API key, the scope `admin`."

export const listUsers = {
  ...routes.listUsers,
  schema: {
    tags: ['administration'],
    summary: 'List accounts, oldest first',
    description: adminOnly,
    response: { 200: Type.Array(refTo(AdminUser)) },
  },
}

export const createUser = {
  ...routes.createUser,
  schema: {
    tags: ['administration'],
    summary: 'Create an account with a random password',
    description: `Works even if registration is closed. Responds with 409 if the username is taken or reserved. ${adminOnly}`,
    body: refTo(NewUser),
    response: { 201: refTo(CreatedUser) },
  },
}

export const getAdminUser = {
  ...routes.getAdminUser,
  schema: {
    tags: ['administration'],
    summary: 'Get an account',
    description: adminOnly,
    params: UserPath,
    response: { 200: refTo(AdminUser) },
  },
}

export const updateUser = {
  ...routes.updateUser,
  schema: {
    tags: ['administration'],
    summary: "Change an account's role, status or quota",
    description: `Disabling an account ends its sessions, and invalidates its API keys and all links to private files that it could read. Presigned URLs that were already issued remain valid until they expire. Responds with 409 (\`last_admin\`) if no active administrator would remain. ${adminOnly}`,
    params: UserPath,
    body: refTo(UserChanges),
    response: { 200: refTo(AdminUser) },
  },
}

export const removeUser = {
  ...routes.removeUser,
  schema: {
    tags: ['administration'],
    summary: 'Remove an account',
    description: `The username remains reserved. Responds with 409 (\`owns_models\`) if the account owns models and neither \`give_to\` nor \`delete_models\` is given. Responds with 409 (\`last_admin\`) if no active administrator would remain. ${adminOnly}`,
    params: UserPath,
    querystring: UserRemoval,
    response: { 204: Empty },
  },
}

export const resetPassword = {
  ...routes.resetPassword,
  schema: {
    tags: ['administration'],
    summary: 'Set a random password, end all sessions and revoke all API keys',
    description: adminOnly,
    params: UserPath,
    response: { 200: refTo(PasswordReset) },
  },
}

export const listUserKeys = {
  ...routes.listUserKeys,
  schema: {
    tags: ['administration'],
    summary: "List an account's API keys",
    description: adminOnly,
    params: UserPath,
    response: { 200: Type.Array(refTo(ApiKey)) },
  },
}

export const revokeUserKey = {
  ...routes.revokeUserKey,
  schema: {
    tags: ['administration'],
    summary: "Revoke an account's API key",
    description: adminOnly,
    params: Type.Object({ username: Type.String(), id: Type.String() }),
    response: { 204: Empty },
  },
}

export const listInvitations = {
  ...routes.listInvitations,
  schema: {
    tags: ['administration'],
    summary: 'List invitations, newest first',
    description: adminOnly,
    response: { 200: Type.Array(refTo(Invitation)) },
  },
}

export const createInvitation = {
  ...routes.createInvitation,
  schema: {
    tags: ['administration'],
    summary: 'Invite someone to create an account',
    description: `An invitation is valid for one registration within seven days, even if registration is closed. Only this response contains its secret. ${adminOnly}`,
    body: refTo(NewInvitation),
    response: { 201: refTo(CreatedInvitation) },
  },
}

export const revokeInvitation = {
  ...routes.revokeInvitation,
  schema: {
    tags: ['administration'],
    summary: 'Revoke an invitation',
    description: adminOnly,
    params: IdPath,
    response: { 204: Empty },
  },
}

export const listAudit = {
  ...routes.listAudit,
  schema: {
    tags: ['administration'],
    summary: 'List entries of the audit log',
    description: `Newest first, or oldest first with \`after\`. To get the next page, set \`before\` or \`after\` to the sequence number of the last entry. ${adminOnly}`,
    querystring: AuditQuery,
    response: { 200: Type.Array(refTo(AuditEntry)) },
  },
}

export const getStatus = {
  ...routes.getStatus,
  schema: {
    tags: ['administration'],
    summary: 'Get the state of the store and of the processing queue',
    description: adminOnly,
    response: { 200: refTo(RegistryStatus) },
  },
}
