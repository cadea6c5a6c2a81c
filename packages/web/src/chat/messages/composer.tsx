import { ArrowUp, Square } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, type Ref, useRef, useState } from 'react'
import { AutoTextarea } from './auto-textarea.tsx'

type Props = {
  ref: Ref<HTMLTextAreaElement>
  isRunning: boolean
  canSend: boolean
  onSend: (content: string) => void
  onStop: () => void
}

/**
 * The message field. Text can be typed while an answer is being received, but cannot be sent until the answer has
 * ended.
 */
export function Composer({ ref, isRunning, canSend, onSend, onStop }: Props) {
  const [text, setText] = useState('')
  const form = useRef<HTMLFormElement>(null)
  const isReady = canSend && !isRunning && text.trim() !== ''

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!isReady) return
    onSend(text.trim())
    setText('')
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Escape' && isRunning) onStop()
    if (!isSendKey(event)) return
    event.preventDefault()
    form.current?.requestSubmit()
  }

  return (
    <form
      ref={form}
      onSubmit={submit}
      className="mx-auto w-full max-w-[46rem] px-4 pb-3 sm:px-6"
      aria-label="Your message"
    >
      <div className="flex items-end gap-2 rounded-card border border-line-strong/55 bg-surface p-1.5 pl-4 shadow-[0_8px_30px_-18px_oklch(0.2_0.03_230/0.4)] has-[textarea:focus-visible]:border-roe-ink has-[textarea:focus-visible]:outline-1 has-[textarea:focus-visible]:outline-roe-ink">
        <AutoTextarea
          ref={ref}
          id="message"
          aria-label="Message"
          aria-describedby="message-keys"
          placeholder="Message"
          enterKeyHint="send"
          className="my-2 max-h-[40dvh] min-w-0 flex-1 resize-none bg-transparent leading-6 outline-none placeholder:text-ink-3"
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
        />
        {isRunning ? (
          <button key="stop" type="button" className="ctl-ink" onClick={onStop}>
            <Square size={14} aria-hidden fill="currentColor" />
            Stop
          </button>
        ) : (
          <button key="send" type="submit" className="ctl-ink" disabled={!isReady}>
            <ArrowUp size={18} aria-hidden />
            Send
          </button>
        )}
      </div>
      <p id="message-keys" className="mt-1.5 text-center text-[13px] text-ink-3 max-sm:hidden">
        <kbd className="font-sans">Enter</kbd> sends, <kbd className="font-sans">Shift+Enter</kbd>{' '}
        adds a new line
      </p>
    </form>
  )
}

/**
 * Whether a key press sends the message: Enter without Shift, unless it confirms text composed with an input method, as
 * in Japanese or Chinese.
 */
export const isSendKey = ({ key, shiftKey, nativeEvent }: KeyboardEvent) =>
  key === 'Enter' && !shiftKey && !nativeEvent.isComposing
