import { Ellipsis, MessageSquarePlus, Pencil, Trash2 } from 'lucide-react'
import { type FormEvent, useRef, useState } from 'react'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Disclosure } from '../ui/disclosure.tsx'
import type { Entry } from './history/history.ts'
import type { Chat } from './state/chat.ts'
import type { ChatState } from './state/chat-state.ts'

type Props = { chat: Chat; state: ChatState; onChosen?: () => void }

type Deletion = { title: string; detail: string; act: () => void }

export function ChatList({ chat, state, onChosen }: Props) {
  const { entries, historyFault, conversation } = state
  const [deletion, setDeletion] = useState<Deletion>()
  const dialog = useRef<HTMLDialogElement>(null)

  function askBefore(asked: Deletion) {
    setDeletion(asked)
    dialog.current?.showModal()
  }

  return (
    <nav aria-label="Chats" className="flex min-h-full flex-col">
      <button
        type="button"
        className="ctl w-full"
        onClick={() => {
          chat.startNew()
          onChosen?.()
        }}
      >
        <MessageSquarePlus size={18} aria-hidden />
        New chat
      </button>
      <ul className="mt-4 grid grid-cols-1 gap-0.5">
        {entries.map((entry) => (
          <ChatEntry
            key={entry.id}
            entry={entry}
            isCurrent={entry.id === conversation.id}
            onChosen={onChosen}
            onRename={(title) => chat.rename(entry.id, title)}
            onDelete={() =>
              askBefore({
                title: 'Delete this chat?',
                detail: `“${entry.title}” is saved only in this browser and cannot be restored after you delete it.`,
                act: () => chat.delete(entry.id),
              })
            }
          />
        ))}
      </ul>
      <div className="mt-auto grid gap-2 px-2 pt-6 text-[13px] text-ink-3">
        {historyFault && <p role="alert">{historyFault}</p>}
        <p>Chats are saved only in this browser.</p>
        {entries.length > 0 && (
          <button
            type="button"
            className="w-fit py-1 text-ink-2 underline underline-offset-3 hover:text-ink"
            onClick={() =>
              askBefore({
                title: 'Delete all chats?',
                detail:
                  entries.length === 1
                    ? 'Your chat is saved only in this browser and cannot be restored after you delete it.'
                    : `Your ${entries.length} chats are saved only in this browser and cannot be restored after you delete them.`,
                act: chat.deleteAll,
              })
            }
          >
            Delete all chats
          </button>
        )}
      </div>
      <ConfirmDialog
        dialog={dialog}
        title={deletion?.title ?? ''}
        action="Delete"
        onConfirm={() => {
          deletion?.act()
          dialog.current?.close()
        }}
      >
        {deletion?.detail}
      </ConfirmDialog>
    </nav>
  )
}

type EntryProps = {
  entry: Entry
  isCurrent: boolean
  onChosen: (() => void) | undefined
  onRename: (title: string) => void
  onDelete: () => void
}

function ChatEntry({ entry: { id, title }, isCurrent, onChosen, onRename, onDelete }: EntryProps) {
  const [isRenaming, setRenaming] = useState(false)
  const link = useRef<HTMLAnchorElement>(null)
  if (isRenaming) {
    return (
      <li>
        <RenameForm
          title={title}
          onDone={(changed) => {
            setRenaming(false)
            if (changed && changed !== title) onRename(changed)
          }}
          onReturn={() => requestAnimationFrame(() => link.current?.focus())}
        />
      </li>
    )
  }
  return (
    <li
      className={`flex items-center rounded-ctl hover:bg-sunken ${isCurrent ? 'bg-sunken font-medium' : 'text-ink-2'}`}
    >
      <a
        ref={link}
        href={`#${id}`}
        aria-current={isCurrent ? 'page' : undefined}
        className="min-w-0 flex-1 truncate py-2 pl-3 text-[14.5px]"
        title={title}
        onClick={onChosen}
      >
        {title}
      </a>
      <Disclosure
        label={`Actions for ${title}`}
        className="grid size-9 shrink-0 place-items-center rounded-ctl text-ink-3 hover:text-ink"
        icon={<Ellipsis size={17} aria-hidden />}
      >
        <button type="button" className="pop-item" onClick={() => setRenaming(true)}>
          <Pencil size={16} aria-hidden />
          Rename
        </button>
        <button type="button" className="pop-item" onClick={onDelete}>
          <Trash2 size={16} aria-hidden />
          Delete
        </button>
      </Disclosure>
    </li>
  )
}

type RenameProps = {
  title: string
  onDone: (changed?: string) => void
  /** Called if the form was closed with the keyboard, to restore the focus. */
  onReturn: () => void
}

/** Saves the name when the user presses Enter or leaves the field. Esc cancels. */
function RenameForm({ title, onDone, onReturn }: RenameProps) {
  const [text, setText] = useState(title)
  const isDone = useRef(false)

  function finish(changed?: string) {
    if (isDone.current) return
    isDone.current = true
    onDone(changed?.trim())
  }
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        finish(text)
        onReturn()
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the form appears when "Rename" is clicked
        autoFocus
        aria-label="Chat name"
        className="field h-9 text-[14.5px]"
        value={text}
        maxLength={200}
        onFocus={({ target }) => target.select()}
        onChange={({ target }) => setText(target.value)}
        onBlur={() => finish(text)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.preventDefault()
          finish()
          onReturn()
        }}
      />
    </form>
  )
}
