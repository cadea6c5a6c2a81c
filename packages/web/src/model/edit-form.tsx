import type { ModelChanges, ModelRecord } from '@shoal/protocol/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useId } from 'react'
import { useClient } from '../api/context.ts'
import { CardField } from '../card/card-field.tsx'
import { Field } from '../ui/field.tsx'
import { fieldErrors, sentence, useFocusOnError } from '../ui/field-errors.ts'
import { TextArea } from '../ui/text-area.tsx'

export function EditForm({ model }: { model: ModelRecord }) {
  const client = useClient()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const save = useMutation({
    mutationFn: (changes: ModelChanges) => client.updateModel(model.id, changes),
    async onSuccess({ name }) {
      await queryClient.invalidateQueries()
      await navigate({ to: '/m/$name', params: { name } })
    },
  })
  const form = useFocusOnError(save.error)
  const wrong = fieldErrors(save.error)
  const visibility = useId()

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    save.mutate(changesFrom(new FormData(event.currentTarget)))
  }

  return (
    <form ref={form} className="grid gap-5" onSubmit={submit}>
      <Field
        label="Display name"
        name="display_name"
        defaultValue={model.display_name}
        error={wrong['/display_name']}
        maxLength={200}
        required
      />
      <Field
        label="Name"
        name="name"
        className="field font-mono"
        defaultValue={model.name}
        hint="Changing the name breaks links that contain the old name."
        error={wrong['/name']}
        pattern="[a-z0-9][a-z0-9._\-]{0,94}[a-z0-9]"
        spellCheck={false}
        required
      />
      <TextArea
        label="Description"
        name="description"
        rows={2}
        defaultValue={model.description ?? ''}
        error={wrong['/description']}
        maxLength={2000}
      />
      <div className="grid gap-5 sm:grid-cols-2">
        <Field
          label="License"
          name="license"
          className="field font-mono"
          defaultValue={model.license ?? ''}
          error={wrong['/license']}
          spellCheck={false}
        />
        <Field
          label="Tags, separated by commas"
          name="tags"
          defaultValue={model.tags.join(', ')}
          error={wrong['/tags']}
        />
      </div>
      <CardField
        label="Model card"
        hint="Markdown."
        name="readme"
        rows={16}
        names={[model.display_name, model.name]}
        defaultValue={model.readme ?? ''}
        error={wrong['/readme']}
      />
      <fieldset>
        <legend className="label">Visibility</legend>
        {[
          { value: 'public', text: 'Public: everyone who can read this registry' },
          { value: 'private', text: 'Private: only the owner and this registry’s administrators' },
        ].map(({ value, text }) => (
          <label key={value} className="flex items-center gap-2.5 py-1 text-[15px]">
            <input
              type="radio"
              name={`visibility-${visibility}`}
              value={value}
              defaultChecked={model.is_public === (value === 'public')}
              className="size-4 accent-roe"
            />
            {text}
          </label>
        ))}
      </fieldset>
      <p role="alert" className="text-[15px] text-roe-ink empty:hidden">
        {save.error && Object.keys(wrong).length === 0 && sentence(save.error.message)}
      </p>
      <div>
        <button type="submit" className="ctl-ink" disabled={save.isPending}>
          Save
        </button>
      </div>
    </form>
  )

  function changesFrom(values: FormData): ModelChanges {
    const text = (name: string) => String(values.get(name) ?? '').trim()
    return {
      name: text('name'),
      display_name: text('display_name'),
      description: text('description') || null,
      license: text('license') || null,
      tags: tagsFrom(text('tags')),
      readme: String(values.get('readme')) || null,
      is_public: values.get(`visibility-${visibility}`) === 'public',
    }
  }
}

const tagsFrom = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
]
