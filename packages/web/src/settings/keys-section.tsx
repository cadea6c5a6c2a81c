import { type CreatedApiKey, credentialCalls, type User } from '@shoal/protocol/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { KeyRow } from '../account/key-row.tsx'
import { useCalls } from '../api/context.ts'
import { keysQuery } from '../api/queries.ts'
import { Failure } from '../ui/problem.tsx'
import { NewKeyForm } from './new-key-form.tsx'
import { NewSecret } from './new-secret.tsx'

export function KeysSection({ user }: { user: User }) {
  const client = useCalls(credentialCalls)
  const queryClient = useQueryClient()
  const keys = useQuery(keysQuery(client))
  const [made, setMade] = useState<CreatedApiKey>()
  const [isMaking, setMaking] = useState(false)

  async function revoke(id: string) {
    await client.deleteApiKey(id)
    await queryClient.invalidateQueries(keysQuery(client))
  }

  return (
    <>
      <p className="text-[15px] text-ink-2">
        API keys are for programs such as the CLI, scripts and third-party clients. A key never has
        more permissions than your account.
      </p>
      {made && <NewSecret made={made} onDone={() => setMade(undefined)} />}
      {isMaking ? (
        <NewKeyForm
          isAdmin={user.is_admin}
          onMade={(key) => {
            setMade(key)
            setMaking(false)
          }}
          onCancel={() => setMaking(false)}
        />
      ) : (
        <button type="button" className="ctl-ink mt-5" onClick={() => setMaking(true)}>
          New key
        </button>
      )}
      <div className="mt-8">
        {keys.isError && <Failure as="h2" error={keys.error} onRetry={() => keys.refetch()} />}
        {keys.isPending && <div className="skeleton h-24" aria-busy="true" />}
        {keys.data?.length === 0 && <p className="text-ink-3">No keys yet.</p>}
        {keys.data && keys.data.length > 0 && (
          <ul>
            {keys.data.map((key) => (
              <KeyRow key={key.id} apiKey={key} revoke={revoke} />
            ))}
          </ul>
        )}
      </div>
    </>
  )
}
