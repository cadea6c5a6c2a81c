import { hasCode } from '@shoal/core/errors'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import { useCalls } from '../../api/context.ts'
import { RestoredNote } from '../../drafts/restored-note.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import { WarnBeforeLeaving } from '../../drafts/warn-before-leaving.tsx'
import { toJobFile } from '../jobs/job.ts'
import { openModel } from '../jobs/open-model.ts'
import { publishClient } from '../jobs/publish-client.ts'
import { startJob } from '../jobs/publishing.ts'
import { type DetailErrors, type Details, findDetailErrors, toNewModel } from './details.ts'
import { DetailsPart } from './details-part.tsx'
import { FilesPart } from './files-part.tsx'
import { describeMissing, useMissingParts } from './missing-parts.ts'
import { PublishProblem } from './publish-problem.tsx'
import { ReviewPart } from './review-part.tsx'
import { emptyDetails, suggestDetails } from './suggest-details.ts'
import { useChosenFiles } from './use-chosen-files.ts'
import { useNameCheck } from './use-name-check.ts'

export function PublishForm({ username }: { username: string }) {
  const client = useCalls(publishClient)
  const queryClient = useQueryClient()
  const chosen = useChosenFiles()
  const { files, sizeBytes } = chosen
  const draft = useDraft({ username, form: 'publish' }, emptyDetails)
  const [isRefused, setRefused] = useState(false)
  const [taken, setTaken] = useState<{ name: string; reason: string }>()
  const form = useRef<HTMLFormElement>(null)
  const { model } = useLocation().search as { model?: string }
  const details = { ...suggestDetails(files), ...(model && { name: model }), ...draft.changes }
  const name = useNameCheck(details.name)
  const isNewModel = name.model === undefined
  const choices = useMissingParts(chosen.choices, name.model?.name)
  const filesError =
    files.length === 0 ? 'Choose at least one GGUF file.' : describeMissing(choices)

  const publish = useMutation({
    mutationFn: () => openModel(client, toNewModel(details)),
    onSuccess({ model, isNew }) {
      draft.clear()
      startJob({
        client,
        job: {
          modelName: model.name,
          displayName: model.display_name,
          username,
          newModel: isNew ? toNewModel(details) : undefined,
          files: files.map(toJobFile),
        },
        sources: new Map(files.map(({ filename, file }) => [filename, file])),
        onReady: () => void queryClient.invalidateQueries(),
      })
    },
    onError(error) {
      if (!hasCode(error, 'name_taken')) return
      setTaken({ name: details.name, reason: error.message })
      refuse()
    },
  })

  const errors: DetailErrors = {
    ...(isNewModel && findDetailErrors(details)),
    ...(name.error && { name: name.error }),
    ...(taken?.name === details.name && { name: taken.reason }),
    ...(filesError && { files: filesError }),
  }
  const shownErrors = isRefused ? errors : {}

  /** Shows the form's errors until the next valid submission, and focuses the first invalid field. */
  function refuse() {
    setRefused(true)
    requestAnimationFrame(() =>
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(),
    )
  }

  function submit(event: FormEvent) {
    event.preventDefault()
    if (Object.keys(errors).length > 0) return refuse()
    setRefused(false)
    publish.mutate()
  }

  const edit = (changes: Partial<Details>) => draft.set({ ...draft.changes, ...changes })

  function discard() {
    draft.clear()
    form.current?.querySelector('input')?.focus() // because the button that has the focus disappears
  }

  const hasFailed = publish.isError && !hasCode(publish.error, 'name_taken')
  return (
    <form ref={form} noValidate onSubmit={submit} className="mt-8 grid gap-12">
      <WarnBeforeLeaving isDirty={files.length > 0 || Object.keys(draft.changes).length > 0}>
        {draft.isKept
          ? 'Nothing has been published yet. This browser keeps the details as a draft, but you will have to choose the files again.'
          : 'Nothing has been published yet, and this browser cannot keep your input, so it will be lost.'}
      </WarnBeforeLeaving>
      {draft.isRestored && (
        <RestoredNote onDiscard={discard}>
          The details that you entered on an earlier visit have been restored.
        </RestoredNote>
      )}
      <FilesPart
        chosen={chosen}
        choices={choices}
        error={shownErrors.files}
        isLarge={sizeBytes > 10e9}
        modelName={details.name}
      />
      <DetailsPart
        details={details}
        edit={edit}
        errors={shownErrors}
        files={files}
        name={name}
        isNewModel={isNewModel}
      />
      <ReviewPart
        details={details}
        edit={edit}
        files={files}
        sizeBytes={sizeBytes}
        existing={name.model}
        isBusy={publish.isPending}
      />
      {hasFailed && <PublishProblem error={publish.error} />}
    </form>
  )
}
