import { Pencil } from 'lucide-react'
import { type FormEvent, memo, useEffect, useRef, useState } from 'react'
import { CopyButton } from '../../ui/copy-button.tsx'
import type { Question } from '../conversation/conversation.ts'
import { AutoTextarea } from './auto-textarea.tsx'
import { isSendKey } from './composer.tsx'
import { smallButton } from './small-button.ts'

type Props = {
  question: Question
  onEdit: (id: string, content: string) => void
  isLocked: boolean
}

export const QuestionItem = memo(function QuestionItem({ question, onEdit, isLocked }: Props) {
  const [isEditing, setEditing] = useState(false)
  const editButton = useRef<HTMLButtonElement>(null)
  const { id, content } = question

  function close() {
    setEditing(false)
    requestAnimationFrame(() => editButton.current?.focus())
  }

  return (
    <li className="scroll-mt-20">
      <h2 className="sr-only">You</h2>
      {isEditing ? (
        <EditForm
          content={content}
          onCancel={close}
          onSave={(text) => {
            setEditing(false)
            onEdit(id, text)
          }}
        />
      ) : (
        <div className="ml-auto grid w-fit max-w-[85%] justify-items-end">
          <p
            dir="auto"
            className="whitespace-pre-wrap rounded-card rounded-br-[5px] bg-sea-soft px-4 py-2.5 [overflow-wrap:anywhere]"
          >
            {content}
          </p>
          <div className="mt-1 flex gap-0.5">
            <CopyButton value={content} label="Copy your message" className={smallButton} />
            <button
              ref={editButton}
              type="button"
              className={smallButton}
              aria-label="Edit your message"
              title="Edit your message"
              disabled={isLocked}
              onClick={() => setEditing(true)}
            >
              <Pencil size={15} aria-hidden />
            </button>
          </div>
        </div>
      )}
    </li>
  )
})

type EditFormProps = { content: string; onSave: (text: string) => void; onCancel: () => void }

function EditForm({ content, onSave, onCancel }: EditFormProps) {
  const [text, setText] = useState(content)
  const area = useRef<HTMLTextAreaElement>(null)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    area.current?.focus()
    area.current?.setSelectionRange(content.length, content.length)
  }, [content])

  function submit(event: FormEvent) {
    event.preventDefault()
    if (text.trim() !== '') onSave(text.trim())
  }
  return (
    <form ref={form} className="panel p-3" onSubmit={submit}>
      <AutoTextarea
        ref={area}
        aria-label="Edited message"
        className="field max-h-[50dvh] min-h-0 resize-none"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel()
          if (!isSendKey(event)) return
          event.preventDefault()
          form.current?.requestSubmit()
        }}
      />
      <div className="mt-2 flex flex-wrap items-center justify-end gap-2">
        <p className="mr-auto text-[13px] text-ink-3">
          Sending this message deletes all later messages.
        </p>
        <button type="button" className="ctl h-9" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" className="ctl-ink h-9" disabled={text.trim() === ''}>
          Send again
        </button>
      </div>
    </form>
  )
}
