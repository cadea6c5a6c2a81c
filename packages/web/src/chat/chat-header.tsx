import { Boxes, MessageSquarePlus, PanelLeft } from 'lucide-react'
import { ThemeSwitch } from '../app/theme-switch.tsx'
import { Logo } from '../fish/fish.tsx'
import { ChatList } from './chat-list.tsx'
import { SettingsPanel } from './settings/settings-panel.tsx'
import type { Chat } from './state/chat.ts'
import { type ChatState, chosenModel } from './state/chat-state.ts'

type Props = {
  chat: Chat
  state: ChatState
  isWide: boolean
  /** Shows the conversation. */
  onChat: () => void
  /** Shows the models on this machine and the search for more models. */
  onModels: () => void
}

export function ChatHeader({ chat, state, isWide, onChat, onModels }: Props) {
  function startNew() {
    onChat()
    chat.startNew()
  }
  return (
    <header className="border-line border-b">
      <div className="flex h-16 items-center gap-1.5 px-3 sm:gap-3 sm:px-5">
        {!isWide && <ChatsPanel chat={chat} state={state} onChat={onChat} />}
        <a
          href="/"
          aria-label="shoal, a new chat"
          className="hidden shrink-0 items-center gap-2 min-[360px]:flex lg:w-[15.25rem]"
          onClick={(event) => {
            event.preventDefault()
            startNew()
          }}
        >
          <Logo />
          <span className="hidden font-bold font-display text-[22px] tracking-[-0.03em] sm:inline">
            shoal
          </span>
        </a>
        <ModelChoice chat={chat} state={state} />
        <button
          type="button"
          className="ctl-quiet shrink-0"
          aria-label="Models"
          title="Models on this machine and in registries"
          onClick={onModels}
        >
          <Boxes size={19} aria-hidden />
        </button>
        <div className="ml-auto flex items-center gap-1 sm:gap-2">
          <SettingsPanel
            key={state.conversation.id}
            settings={state.conversation.settings}
            onChange={chat.changeSettings}
            onDone={chat.keepSettings}
          />
          {!isWide && (
            <button
              type="button"
              className="ctl-quiet max-sm:hidden"
              aria-label="New chat"
              title="New chat"
              onClick={startNew}
            >
              <MessageSquarePlus size={19} aria-hidden />
            </button>
          )}
          <ThemeSwitch />
        </div>
      </div>
    </header>
  )
}

function ModelChoice({ chat, state }: { chat: Chat; state: ChatState }) {
  const models = state.models ?? []
  if (models.length === 0) return null
  const groups = [
    { label: 'Loaded', of: models.filter(({ isLoaded }) => isLoaded) },
    { label: 'On this machine', of: models.filter(({ isLoaded }) => !isLoaded) },
  ]
  return (
    <select
      aria-label="Model"
      className="ctl w-auto min-w-0 max-w-72 shrink text-ellipsis font-mono text-[14px]"
      value={chosenModel(state)}
      disabled={state.running !== undefined}
      onChange={({ target }) => chat.chooseModel(target.value)}
    >
      {groups
        .filter(({ of }) => of.length > 0)
        .map(({ label, of }) => (
          <optgroup key={label} label={label}>
            {of.map(({ id, quantization }) => (
              <option key={id} value={id}>
                {id.includes(':') || quantization === '' ? id : `${id} · ${quantization}`}
              </option>
            ))}
          </optgroup>
        ))}
    </select>
  )
}

/** On small screens, the list of chats is an overlay. Pressing Esc, choosing a chat or clicking outside closes it. */
function ChatsPanel({ chat, state, onChat }: Omit<Props, 'isWide' | 'onModels'>) {
  return (
    <>
      <button
        type="button"
        className="ctl-quiet shrink-0"
        aria-label="Chats"
        title="Chats"
        popoverTarget="chats"
      >
        <PanelLeft size={19} aria-hidden />
      </button>
      <div
        id="chats"
        popover="auto"
        className="pop inset-y-0 left-0 m-0 h-dvh max-h-none w-72 max-w-[85vw] overflow-y-auto rounded-none border-y-0 border-l-0 bg-bg p-3 backdrop:bg-black/40"
      >
        <ChatList
          chat={chat}
          state={state}
          onChosen={() => {
            onChat()
            document.getElementById('chats')?.hidePopover()
          }}
        />
      </div>
    </>
  )
}
