import { RotateCcw } from 'lucide-react'
import { memo } from 'react'
import type { Message } from '../conversation/conversation.ts'
import type { Chat } from '../state/chat.ts'
import type { Running } from '../state/chat-state.ts'
import type { LocalModel } from '../state/local-models.ts'
import { AnswerItem, DraftItem } from './answer-item.tsx'
import { QuestionItem } from './question-item.tsx'

type Props = {
  chat: Chat
  messages: readonly Message[]
  running: Running | undefined
  models: readonly LocalModel[] | undefined
}

/**
 * The messages of a conversation. Memoized, so that only the item of the current answer is rendered again while the
 * answer is being received.
 */
export const MessageList = memo(function MessageList({ chat, messages, running, models }: Props) {
  const last = messages.at(-1)
  const findParameters = (model: string) =>
    models?.find(({ id }) => id === model)?.parameters ?? null
  return (
    <ol className="grid grid-cols-[minmax(0,1fr)] gap-6 pt-8 pb-6">
      {messages.map((message, index) =>
        message.role === 'user' ? (
          <QuestionItem
            key={message.id}
            question={message}
            onEdit={chat.editQuestion}
            isLocked={running !== undefined}
          />
        ) : (
          <AnswerItem
            key={message.id}
            answer={message}
            parameters={findParameters(message.model)}
            onRetry={index === messages.length - 1 && !running ? chat.retry : undefined}
          />
        ),
      )}
      {last?.role === 'user' && !running && (
        <li>
          <button type="button" className="ctl" onClick={chat.askAgain}>
            <RotateCcw size={16} aria-hidden />
            Ask again
          </button>
          <p className="mt-2 text-[13px] text-ink-3">The last message has no answer.</p>
        </li>
      )}
      {running && (
        <DraftItem chat={chat} running={running} parameters={findParameters(running.model)} />
      )}
    </ol>
  )
})
