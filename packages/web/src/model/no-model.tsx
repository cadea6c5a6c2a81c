import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { listQuery, meQuery } from '../api/queries.ts'
import { Problem } from '../ui/problem.tsx'

const nearAtMost = 5

export function NoModel({ name }: { name: string }) {
  const client = useClient()
  const { data: me } = useQuery(meQuery(client))
  const words = name.replace(/[._-]+/g, ' ').trim()
  const near = useQuery({
    ...listQuery(client, { q: words, limit: nearAtMost }),
    enabled: words !== '',
  })
  return (
    <Problem title="No model by that name">
      <p>
        “{name}” is not in this registry
        {me ? '.' : ', or it is private and you are signed out.'}
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
