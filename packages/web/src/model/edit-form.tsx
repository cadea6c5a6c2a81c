import { editCalls, type ModelRecord, type User } from '@shoal/protocol/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useId } from 'react'
import { useCalls } from '../api/context.ts'
import { CardField } from '../card/card-field.tsx'
import { RestoredNote } from '../drafts/restored-note.tsx'
import { useDraft } from '../drafts/use-draft.ts'
import { WarnBeforeLeaving } from '../drafts/warn-before-leaving.tsx'
import { Field, TextArea } from '../ui/field.tsx'
import { fieldErrors, useFocusOnError } from '../ui/field-errors.ts'
import { draftKey, type EditFields, fieldsOf, keepChanged, toModelChanges } from './edit-fields.ts'
import { SaveProblem } from './save-problem.tsx'

type Props = { model: ModelRecord; user: User }

export function EditForm({ model, user }: Props) {
  const client = useCalls(editCalls)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const saved = fieldsOf(model)
  const draft = useDraft(draftKey(user, model), saved)
  const fields = { ...saved, ...draft.changes }
  const changed = keepChanged(fields, saved)
  const isDirty = Object.keys(changed).length > 0
  const save = useMutation({
    mutationFn: async () =>
      isDirty ? client.updateModel(model.id, toModelChanges(changed)) : model,
    async onSuccess(changed) {
      const { name } = changed ?? model
      await queryClient.invalidateQueries()
      draft.clear() // if it were cleared earlier, the form would briefly show the old values
      await navigate({ to: '/m/$name', params: { name }, ignoreBlocker: true })
    },
  })
  const wrong = fieldErrors(save.error)
  const hasFieldErrors = Object.keys(wrong).length > 0
  const form = useFocusOnError(hasFieldErrors ? save.error : null)
  const visibility = useId()

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    save.mutate()
  }

  const edit = (changes: Partial<EditFields>) =>
    draft.set(keepChanged({ ...fields, ...changes }, saved))

  function discard() {
    draft.clear()
    form.current?.querySelector('input')?.focus() // because the button that has the focus disappears
  }

  return (
    <form ref={form} className="grid gap-5" onSubmit={submit}>
      <WarnBeforeLeaving isDirty={isDirty}>
        {draft.isKept
          ? 'Your changes are not saved in the registry. This browser keeps them as a draft, so you can come back to this page and save them.'
          : 'This browser cannot keep your changes, so they will be lost.'}
      </WarnBeforeLeaving>
      {draft.isRestored && isDirty && (
        <RestoredNote onDiscard={discard}>
          Your unsaved changes from an earlier visit have been restored.
        </RestoredNote>
      )}
      <Field
        label="Display name"
        name="display_name"
        value={fields.display_name}
        onChange={({ target }) => edit({ display_name: target.value })}
        error={wrong['/display_name']}
        maxLength={200}
        required
      />
      <Field
        label="Name"
        name="name"
        className="field font-mono"
        value={fields.name}
        onChange={({ target }) => edit({ name: target.value })}
        hint="After a change, the old name still works until another model takes it."
        error={wrong['/name']}
        pattern="[a-z0-9][a-z0-9._\-]{0,94}[a-z0-9]"
        spellCheck={false}
        required
      />
      <TextArea
        label="Description"
        name="description"
        rows={2}
        value={fields.description}
        onChange={({ target }) => edit({ description: target.value })}
        error={wrong['/description']}
        maxLength={2000}
      />
      <div className="grid gap-5 sm:grid-cols-2">
        <Field
          label="License"
          name="license"
          className="field font-mono"
          value={fields.license}
          onChange={({ target }) => edit({ license: target.value })}
          error={wrong['/license']}
          spellCheck={false}
        />
        <Field
          label="Tags, separated by commas"
          name="tags"
          value={fields.tags}
          onChange={({ target }) => edit({ tags: target.value })}
          error={wrong['/tags']}
        />
      </div>
      <CardField
        label="Model card"
        hint="Markdown."
        name="readme"
        rows={16}
        names={[model.display_name, model.name]}
        value={fields.readme}
        onChange={({ target }) => edit({ readme: target.value })}
        error={wrong['/readme']}
      />
      <fieldset>
        <legend className="label">Visibility</legend>
        {[
          { isPublic: true, text: 'Public: everyone with access to this registry' },
          {
            isPublic: false,
            text: 'Private: only the owner, members and this registry’s administrators',
          },
        ].map(({ isPublic, text }) => (
          <label key={text} className="flex items-center gap-2.5 py-1 text-[15px]">
            <input
              type="radio"
              name={visibility}
              checked={fields.is_public === isPublic}
              onChange={() => edit({ is_public: isPublic })}
              className="size-4 accent-roe"
            />
            {text}
          </label>
        ))}
      </fieldset>
      <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
        <button type="submit" className="ctl-ink" disabled={save.isPending}>
          Save
        </button>
        <SaveProblem error={save.error} hasFieldErrors={hasFieldErrors} isKept={draft.isKept} />
      </div>
    </form>
  )
}
