import type { UserChanges } from '@shoal/protocol'
import { useClient } from '../../api/context.ts'
import { useAdminMutation } from '../calls/use-admin-mutation.ts'

/** Changes an account. */
export function useUpdate(username: string) {
  const client = useClient()
  return useAdminMutation((changes: UserChanges) => client.updateUser(username, changes))
}
