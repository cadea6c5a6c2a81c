import type { ModelRecord } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { meQuery } from '../api/queries.ts'
import { mayEdit } from './may-edit.ts'

/** A link to the edit page, shown only to users who can edit the model. */
export function OwnersLink({ model, children }: { model: ModelRecord; children: string }) {
  const { data: me } = useQuery(meQuery(useClient()))
  if (!mayEdit(me, model)) return null
  return (
    <>
      {' '}
      <Link to="/m/$name/edit" params={{ name: model.name }} className="link">
        {children}
      </Link>
    </>
  )
}
