import type { UserChanges } from '@shoal/protocol'
import { adminCalls } from '@shoal/protocol/client'
import { useCalls } from '../../api/context.ts'
import { useAdminMutation } from '../calls/use-admin-mutation.ts'

/** Changes an account. */
export function useUpdate(username: string) {
  const client = useCalls(adminCalls)
  return useAdminMutation((changes: UserChanges) => client.updateUser(username, changes))
}
