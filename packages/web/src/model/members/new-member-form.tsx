import type { Member, MemberRight } from '@shoal/protocol'
import { ApiError, type ModelRecord } from '@shoal/protocol/client'
import { type FormEvent, useId } from 'react'
import { explain } from '../../ui/explain.ts'
import { Field } from '../../ui/field.tsx'
import { fieldErrors, useFocusOnError } from '../../ui/field-errors.ts'
import { sentence } from '../../ui/sentence.ts'
import { RightChoice } from './right-choice.tsx'
import { useSetMember } from './use-members.ts'

type Props = { model: ModelRecord; onAdded: (member: Member) => void }

export function NewMemberForm({ model, onAdded }: Props) {
  const add = useSetMember(model)
  const form = useFocusOnError(add.error)
  const id = useId()

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const target = event.currentTarget
    const values = new FormData(target)
    const username = String(values.get('username')).trim().toLowerCase()
    add.mutate(
      { username, right: values.get('right') as MemberRight },
      {
        onSuccess(member) {
          target.reset()
          onAdded(member)
        },
      },
    )
  }

  const { error } = add
  // The registry has no such account, or the account cannot become a member.
  const isAboutAccount =
    error instanceof ApiError && (error.problem.code === 'user_unknown' || error.status === 409)
  const wrong = isAboutAccount ? sentence(error.message) : fieldErrors(error)['/username']
  return (
    <form ref={form} className="mt-5" aria-label="Add a member" onSubmit={submit}>
      <div className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 max-w-[320px] flex-1 basis-48">
          <Field
            label="Username"
            name="username"
            error={wrong}
            maxLength={64}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
          />
        </div>
        <div>
          <label className="label" htmlFor={id}>
            Right
          </label>
          <RightChoice id={id} name="right" defaultValue="read" />
        </div>
        <button type="submit" className="ctl-ink self-end" disabled={add.isPending}>
          {add.isPending ? 'Adding …' : 'Add'}
        </button>
      </div>
      <p role="alert" className="mt-3 text-[15px] text-roe-ink empty:hidden">
        {error && wrong === undefined && explain(error)}
      </p>
    </form>
  )
}
