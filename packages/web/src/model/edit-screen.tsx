import { ApiError, type ModelRecord, type User } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { SignInFirst } from '../account/sign-in-first.tsx'
import { useClient } from '../api/context.ts'
import { modelQuery } from '../api/queries.ts'
import { useSession } from '../api/session.ts'
import { PageHead } from '../app/head.tsx'
import { ScreenTitle } from '../app/screen-title.tsx'
import { Failure, Problem } from '../ui/problem.tsx'
import { DeleteModel } from './delete-model.tsx'
import { EditFiles } from './edit-files.tsx'
import { EditForm } from './edit-form.tsx'
import { mayManage } from './may-manage.ts'
import { MembersSection } from './members/members-section.tsx'
import { ModelSkeleton } from './model-skeleton.tsx'
import { NoModel } from './no-model.tsx'

const route = getRouteApi('/m/$name/edit')

export function EditScreen() {
  const { name } = route.useParams()
  const client = useClient()
  const { user, isPending } = useSession()
  const model = useQuery(modelQuery(client, name))
  const edited = useEdited(`${user?.username} ${name}`, model.data)
  if (isPending || model.isPending) return <ModelSkeleton />
  return (
    <div className="page pt-8">
      <PageHead title={`Edit ${name}`} isHidden />
      {user && edited ? (
        <Editor key={user.username} model={edited} user={user} />
      ) : model.isError ? (
        <Missing name={name} error={model.error} />
      ) : !user ? (
        <SignInFirst />
      ) : (
        <Problem title="You can’t edit this model">
          {model.data.display_name} belongs to {model.data.owner}, who can add you as a member with
          write access.
        </Problem>
      )}
    </div>
  )
}

/**
 * Returns the model if the visitor may edit it. If the visitor loses access while the editor is open, for example because
 * the session has ended, still returns the model, because closing the editor would lose what the visitor has typed.
 */
function useEdited(key: string, model: ModelRecord | undefined): ModelRecord | undefined {
  const [before, setBefore] = useState<{ key: string; model: ModelRecord }>()
  if (model?.can_write && model !== before?.model) setBefore({ key, model })
  return before?.key === key ? before.model : undefined
}

function Missing({ name, error }: { name: string; error: Error }) {
  const isUnknown = error instanceof ApiError && error.problem.code === 'model_unknown'
  return isUnknown ? <NoModel name={name} /> : <Failure error={error} />
}

function Editor({ model, user }: { model: ModelRecord; user: User }) {
  return (
    <>
      <nav aria-label="Breadcrumb" className="mb-5 text-[14px] text-ink-3">
        <Link
          to="/m/$name"
          params={{ name: model.name }}
          className="underline-offset-4 hover:text-ink hover:underline"
        >
          {model.display_name}
        </Link>
      </nav>
      <ScreenTitle className="font-bold text-[34px] tracking-[-0.035em]">Edit</ScreenTitle>
      <div className="mt-7 grid max-w-[760px] gap-14">
        <EditForm model={model} user={user} />
        <EditFiles model={model} />
        <MembersSection model={model} user={user} isManager={mayManage(user, model)} />
        <DeleteModel model={model} user={user} />
      </div>
    </>
  )
}
