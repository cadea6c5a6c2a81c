import type { ModelRecord, User } from '@shoal/protocol/client'

/** The owner and administrators. */
export const mayEdit = (user: User | null | undefined, { owner }: ModelRecord): boolean =>
  user?.username === owner || user?.is_admin === true
