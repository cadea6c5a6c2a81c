import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { meQuery, nearQuery } from '../api/queries.ts'
import { Problem } from '../ui/problem.tsx'

export function NoModel({ name }: { name: string }) {
  const client = useClient()
  const { data: me } = useQuery(meQuery(client))
  const near = useQuery(nearQuery(client, name))
  return (
    <Problem title="Model not found">
      <p>
        This registry has no model named “{name}” that you can see
        {me ? '.' : '. If the model is private, sign in to see it.'}
      </p>
      {near.data && near.data.models.length > 0 && (
        <p className="mt-3">
          Did you mean{' '}
          {near.data.models.map((model, index) => (
            <span key={model.id}>
              {index > 0 && ', '}
              <Link to="/m/$name" params={{ name: model.name }} className="link">
                {model.name}
              </Link>
            </span>
          ))}
          ?
        </p>
      )}
    </Problem>
  )
}
