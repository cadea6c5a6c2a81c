import { plural } from '@shoal/core/units'
import type { UserRemoval } from '@shoal/protocol'
import { adminCalls } from '@shoal/protocol/client'
import { useId, useState } from 'react'
import { useCalls } from '../../api/context.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { useAdminMutation } from '../calls/use-admin-mutation.ts'
import type { DialogProps } from './dialog-props.ts'

type Props = Pick<DialogProps, 'user' | 'users' | 'isSelf' | 'onDone' | 'onClose'>
type Choice = 'give' | 'delete'

export function RemoveDialog({ user, users, isSelf, onDone, onClose }: Props) {
  const { username, usage } = user
  const client = useCalls(adminCalls)
  const remove = useAdminMutation((removal: UserRemoval) => client.removeUser(username, removal))
  const [choice, setChoice] = useState<Choice>()
  const [heir, setHeir] = useState('')
  const [typed, setTyped] = useState('')
  const hasModels = usage.models_count > 0
  const isDecided = !hasModels || choice === 'delete' || (choice === 'give' && heir.trim() !== '')

  function submit(close: () => void) {
    const onSuccess = () => {
      onDone(`${username} has been removed.`)
      close()
    }
    remove.mutate(hasModels ? removalFor(choice, heir) : {}, { onSuccess })
  }

  return (
    <FormDialog
      title={`Remove ${username}?`}
      action="Remove account"
      isDangerous
      isBusy={remove.isPending}
      isReady={isDecided && typed === username}
      error={remove.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>
        {isSelf && 'This is your own account. '}
        All sessions end and all API keys stop working immediately. Nobody can register with the
        username {username} again. This cannot be undone.
      </p>
      {hasModels && (
        <ModelsChoice
          count={usage.models_count}
          choice={choice}
          onChoose={setChoice}
          heir={heir}
          onName={setHeir}
          heirs={users
            .filter((one) => one.id !== user.id && one.role !== 'system' && !one.disabled_at)
            .map((one) => one.username)}
        />
      )}
      <Field
        label={`Type ${username} to confirm`}
        className="field font-mono"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
    </FormDialog>
  )
}

function removalFor(choice: Choice | undefined, heir: string): UserRemoval {
  return choice === 'delete' ? { delete_models: true } : { give_to: heir.trim() }
}

type ModelsProps = {
  count: number
  choice: Choice | undefined
  onChoose: (choice: Choice) => void
  heir: string
  onName: (heir: string) => void
  /** Suggested usernames. */
  heirs: readonly string[]
}

function ModelsChoice({ count, choice, onChoose, heir, onName, heirs }: ModelsProps) {
  const id = useId()
  const models = plural(count, 'model')
  const them = count === 1 ? 'the model' : `the ${models}`
  return (
    <fieldset className="grid gap-2">
      <legend className="label text-ink">{models}</legend>
      <Radio name={id} isChosen={choice === 'give'} onChoose={() => onChoose('give')}>
        Transfer {them} to another account
      </Radio>
      {choice === 'give' && (
        <div className="pl-6">
          <Field
            label="New owner"
            list={`${id}-heirs`}
            value={heir}
            onChange={({ target }) => onName(target.value)}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
          />
          <datalist id={`${id}-heirs`}>
            {heirs.map((username) => (
              <option key={username} value={username} />
            ))}
          </datalist>
        </div>
      )}
      <Radio name={id} isChosen={choice === 'delete'} onChoose={() => onChoose('delete')}>
        Delete {them}, including files, likes and download counts
      </Radio>
    </fieldset>
  )
}

type RadioProps = {
  name: string
  isChosen: boolean
  onChoose: () => void
  children: React.ReactNode
}

const Radio = ({ name, isChosen, onChoose, children }: RadioProps) => (
  <label className="flex items-start gap-2.5">
    <input
      type="radio"
      name={name}
      className="mt-1 size-4 shrink-0 accent-roe"
      checked={isChosen}
      onChange={onChoose}
    />
    <span>{children}</span>
  </label>
)
