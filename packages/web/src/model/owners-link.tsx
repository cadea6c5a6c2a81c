import type { ModelRecord } from '@shoal/protocol/client'
import { Link } from '@tanstack/react-router'

/** A link to the edit page, shown only to users who can edit the model. */
export function OwnersLink({ model, children }: { model: ModelRecord; children: string }) {
  if (!model.can_write) return null
  return (
    <>
      {' '}
      <Link to="/m/$name/edit" params={{ name: model.name }} className="link">
        {children}
      </Link>
    </>
  )
}
