import { formatBytes } from '@shoal/core/units'
import { useState } from 'react'
import { Field } from '../../ui/field.tsx'
import { fieldErrors } from '../../ui/field-errors.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import type { DialogProps } from './dialog-props.ts'
import { useUpdate } from './use-update.ts'

const bytesPerGigabyte = 1e9

type Props = Pick<DialogProps, 'user' | 'onDone' | 'onClose'>

export function QuotaDialog({ user, onDone, onClose }: Props) {
  const { username, own_quota_bytes, usage } = user
  const update = useUpdate(username)
  const [gigabytes, setGigabytes] = useState(
    own_quota_bytes === null ? '' : String(own_quota_bytes / bytesPerGigabyte),
  )
  const refusal = fieldErrors(update.error)['/own_quota_bytes']

  function submit(close: () => void) {
    const bytes = gigabytes === '' ? null : Math.round(Number(gigabytes) * bytesPerGigabyte)
    const onSuccess = () => {
      const what = bytes === null ? 'the registry’s default' : formatBytes(bytes)
      onDone(`The quota of ${username} is now ${what}.`)
      close()
    }
    update.mutate({ own_quota_bytes: bytes }, { onSuccess })
  }

  return (
    <FormDialog
      title={`Quota of ${username}`}
      action="Save"
      isBusy={update.isPending}
      error={refusal ? null : update.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>
        {username} stores {formatBytes(usage.stored_bytes)}. If you set a quota below this amount,
        nothing is deleted, but no more files can be uploaded.
      </p>
      <Field
        label="Quota in GB"
        type="number"
        min={0}
        step="any"
        value={gigabytes}
        onChange={({ target }) => setGigabytes(target.value)}
        hint="Leave the field empty to use the registry’s default."
        error={refusal}
        autoComplete="off"
      />
    </FormDialog>
  )
}
