import type { ModelRecord, User } from '@shoal/protocol/client'

/** Whether a user can decide who else may see or change a model: only its owner and administrators can. */
export const mayManage = (user: User, { owner }: ModelRecord): boolean =>
  user.username === owner || user.is_admin
