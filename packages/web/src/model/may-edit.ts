import type { ModelRecord, User } from '@shoal/protocol/client'

/** Whether a user can edit a model: only its owner and administrators can. */
export const mayEdit = (user: User | null | undefined, { owner }: ModelRecord): boolean =>
  user?.username === owner || user?.is_admin === true
