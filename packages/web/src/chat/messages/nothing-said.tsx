import { Glyph } from '../../fish/fish.tsx'
import { type ChatState, chosenModel } from '../state/chat-state.ts'

const examples = ['What can you do?', 'Tell me a short story about a fish.', 'Count from 1 to 10.']

type Props = { state: ChatState; onAsk: (question: string) => void }

export function NothingSaid({ state, onAsk }: Props) {
  const chosen = chosenModel(state)
  const model = state.models?.find(({ id }) => id === chosen)
  return (
    <div className="my-auto py-10">
      {model ? (
        <Glyph
          name={model.id.replace(/:.*/, '')}
          parameters={model.parameters}
          className="size-20 rounded-2xl"
        />
      ) : (
        <div className="skeleton size-20 rounded-2xl" />
      )}
      <h1 className="mt-5 break-words font-semibold text-[30px] tracking-[-0.03em] sm:text-[36px]">
        {model ? `Talk to ${model.id}` : 'Chat'}
      </h1>
      <p className="mt-2 max-w-[34rem] text-ink-2">
        The model runs on the machine that serves this page. Chats are saved only in this browser.
      </p>
      {model && (
        <ul className="mt-6 flex flex-wrap gap-2">
          {examples.map((example) => (
            <li key={example}>
              <button type="button" className="ctl h-9 text-[14px]" onClick={() => onAsk(example)}>
                {example}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
