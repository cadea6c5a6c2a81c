import { adminCalls } from '@shoal/protocol/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRow } from '../../account/key-row.tsx'
import { useCalls } from '../../api/context.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { AdminFailure } from '../calls/admin-failure.tsx'
import { adminKey, userKeysQuery } from '../calls/admin-queries.ts'
import { useRightsCheck } from '../calls/use-rights-check.ts'
import type { DialogProps } from './dialog-props.ts'

type Props = Pick<DialogProps, 'user' | 'onClose'>

export function KeysDialog({ user: { username }, onClose }: Props) {
  const client = useCalls(adminCalls)
  const queryClient = useQueryClient()
  const checkRights = useRightsCheck()
  const keys = useQuery(userKeysQuery(client, username))

  async function revoke(id: string) {
    await client.revokeUserKey(username, id).catch((error: Error) => {
      checkRights(error)
      throw error
    })
    await queryClient.invalidateQueries({ queryKey: adminKey })
  }

  return (
    <FormDialog title={`API keys of ${username}`} onClose={onClose}>
      {keys.isError && <AdminFailure error={keys.error} onRetry={() => keys.refetch()} />}
      {keys.isPending && <div className="skeleton h-24" aria-busy="true" />}
      {keys.data?.length === 0 && <p>{username} has no API keys.</p>}
      {keys.data && keys.data.length > 0 && (
        <ul>
          {keys.data.map((key) => (
            <KeyRow key={key.id} apiKey={key} revoke={revoke} />
          ))}
        </ul>
      )}
    </FormDialog>
  )
}
