import { editCalls, type ModelRecord, type User } from '@shoal/protocol/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useCalls } from '../api/context.ts'
import { forgetDraft } from '../drafts/draft-store.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Field } from '../ui/field.tsx'
import { draftKey } from './edit-fields.ts'

export function DeleteModel({ model, user }: { model: ModelRecord; user: User }) {
  const client = useCalls(editCalls)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const dialog = useRef<HTMLDialogElement>(null)
  const [typed, setTyped] = useState('')
  const remove = useMutation({
    mutationFn: () => client.deleteModel(model.id),
    async onSuccess() {
      forgetDraft(draftKey(user, model))
      await navigate({
        to: '/u/$username',
        params: { username: model.owner },
        ignoreBlocker: true,
      })
      await queryClient.resetQueries()
    },
  })
  return (
    <section aria-labelledby="delete-title">
      <h2 id="delete-title" className="font-semibold text-[22px]">
        Delete model
      </h2>
      <p className="mt-2 text-[15px] text-ink-2">
        Deleting a model also deletes its files, likes and download counts. This cannot be undone.
      </p>
      <button
        type="button"
        className="ctl mt-4 text-roe-ink"
        onClick={() => dialog.current?.showModal()}
      >
        Delete
      </button>
      <ConfirmDialog
        dialog={dialog}
        title={`Delete ${model.display_name}?`}
        action="Delete model"
        isBusy={remove.isPending}
        isReady={typed === model.name}
        error={remove.error}
        onConfirm={() => remove.mutate()}
      >
        <p className="mb-4">
          Deleting a model also deletes its files, likes and download counts. This cannot be undone.
        </p>
        <Field
          label={`Type ${model.name} to confirm`}
          className="field font-mono"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          autoComplete="off"
          spellCheck={false}
        />
      </ConfirmDialog>
    </section>
  )
}
