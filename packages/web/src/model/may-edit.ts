import type { ModelRecord, User } from '@shoal/protocol/client'

/** Its owner, and whoever keeps the registry. */
export const mayEdit = (user: User | null | undefined, { owner }: ModelRecord): boolean =>
  user?.username === owner || user?.is_admin === true
