import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { useObservable } from '../use-observable.ts'
import { ChatHeader } from './chat-header.tsx'
import { ChatList } from './chat-list.tsx'
import { KeyForm } from './key-form.tsx'
import { Composer } from './messages/composer.tsx'
import { MessageList } from './messages/message-list.tsx'
import { ModelsProblem } from './messages/models-problem.tsx'
import { NothingSaid } from './messages/nothing-said.tsx'
import { useFollowing } from './messages/use-following.tsx'
import type { ModelStore } from './models/model-store.ts'
import { ModelsScreen } from './models/models-screen.tsx'
import type { RunLink } from './run/run-link.ts'
import { RunScreen } from './run/run-screen.tsx'
import type { Chat } from './state/chat.ts'
import type { ChatState } from './state/chat-state.ts'
import { useIsWide } from './use-is-wide.ts'

type Props = { chat: Chat; store: ModelStore; runLink: RunLink }

export function ChatApp({ chat, store, runLink }: Props) {
  const state = useObservable(chat.state)
  const runText = useObservable(runLink.text)
  const [showsModels, setShowsModels] = useState(false)
  const isWide = useIsWide()
  const { title, id, revision } = state.conversation
  const conversationHash = revision > 0 ? `#${id}` : ''
  /** Returns to the conversation from the list of models or from the question about a “Run here” link. */
  function leave() {
    if (runText !== undefined) runLink.close(conversationHash)
    setShowsModels(false)
  }
  const chatWith = useCallback(
    (model: string) => {
      runLink.close('')
      setShowsModels(false)
      chat.startWith(model)
    },
    [chat, runLink],
  )
  useEffect(() => {
    document.title = title ? `${title} · shoal` : 'Chat · shoal'
  }, [title])

  if (state.keyWanted !== undefined) {
    return <KeyForm reason={state.keyWanted} onKey={chat.giveKey} />
  }
  return (
    <div className="flex h-dvh min-h-[24rem] flex-col">
      <SkipLink />
      <ChatHeader
        chat={chat}
        state={state}
        isWide={isWide}
        onChat={leave}
        onModels={() => {
          leave()
          setShowsModels(true)
        }}
      />
      <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] lg:grid-cols-[17rem_minmax(0,1fr)]">
        {isWide && (
          <aside className="overflow-y-auto border-line border-r px-3 py-4">
            <ChatList chat={chat} state={state} onChosen={leave} />
          </aside>
        )}
        {runText !== undefined && (
          <RunScreen
            key={runText}
            text={runText}
            store={store}
            onChat={chatWith}
            onClose={() => runLink.close(conversationHash)}
          />
        )}
        {runText === undefined && showsModels && (
          <ModelsScreen store={store} onChat={chatWith} onClose={leave} />
        )}
        {runText === undefined && !showsModels && (
          <Conversation chat={chat} state={state} onModels={() => setShowsModels(true)} />
        )}
      </div>
      <p className="sr-only" role="status">
        {state.said}
      </p>
    </div>
  )
}

/** This is a button rather than a link to `#message`, because the URL fragment contains the ID of the chat. */
function SkipLink() {
  return (
    <button
      type="button"
      className="focus:ctl-ink sr-only focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-50"
      onClick={() => document.getElementById('message')?.focus()}
    >
      Skip to message
    </button>
  )
}

/**
 * Focuses the message field when another conversation is shown. Also focuses it when an answer begins or ends and no
 * element has the focus, for example because the focused “Stop” button was removed.
 */
function useMessageFocus(
  composer: RefObject<HTMLTextAreaElement | null>,
  conversationId: string,
  answerId: string | undefined,
) {
  const focus = () => {
    // On touch screens, focusing the field would open the on-screen keyboard.
    if (matchMedia('(pointer: fine)').matches) composer.current?.focus({ preventScroll: true })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the conversation changes
  useEffect(focus, [conversationId])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when an answer begins or ends
  useEffect(() => {
    if (document.activeElement === document.body) focus()
  }, [answerId])
}

type ConversationProps = { chat: Chat; state: ChatState; onModels: () => void }

function Conversation({ chat, state, onModels }: ConversationProps) {
  const { conversation, running, models, modelsFault } = state
  const { id, messages, title } = conversation
  const composer = useRef<HTMLTextAreaElement>(null)
  const following = useFollowing(id)
  const isEmpty = messages.length === 0
  const hasModel = (models?.length ?? 0) > 0

  useMessageFocus(composer, id, running?.answerId)

  return (
    <main className="flex min-h-0 flex-col">
      <div
        ref={following.scroller}
        onScroll={following.onScroll}
        className="relative min-h-0 flex-1 overflow-y-auto"
      >
        <div
          ref={following.content}
          className="mx-auto flex min-h-full w-full max-w-[46rem] flex-col px-4 sm:px-6"
        >
          {!isEmpty && (
            <>
              <h1 className="sr-only">{title}</h1>
              <MessageList chat={chat} messages={messages} running={running} models={models} />
            </>
          )}
          {isEmpty && (hasModel || !(models || modelsFault)) && (
            <NothingSaid state={state} onAsk={chat.send} />
          )}
          {!hasModel && (models || modelsFault) && (
            <ModelsProblem
              as={isEmpty ? 'h1' : 'h2'}
              fault={modelsFault}
              onRetry={chat.refreshModels}
              onFind={onModels}
            />
          )}
        </div>
      </div>
      <div className="relative">
        {following.button}
        <Composer
          key={id}
          ref={composer}
          isRunning={running !== undefined}
          canSend={hasModel}
          onSend={(content) => {
            following.follow()
            chat.send(content)
          }}
          onStop={chat.stop}
        />
      </div>
    </main>
  )
}
