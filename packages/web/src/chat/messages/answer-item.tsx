import { RotateCcw } from 'lucide-react'
import { lazy, memo, Suspense, useEffect, useState } from 'react'
import { Glyph } from '../../fish/fish.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Name } from '../../ui/name.tsx'
import { useObservable } from '../../use-observable.ts'
import { type Answer, type AnswerEnding, thoughtAndSaid } from '../conversation/conversation.ts'
import type { Chat } from '../state/chat.ts'
import type { Running } from '../state/chat-state.ts'
import { FaultNotice } from './models-problem.tsx'
import { smallButton } from './small-button.ts'

/** Loaded with the first answer, not with the page. */
const Markdown = lazy(() => import('../markdown/markdown.tsx'))

type AnswerProps = {
  answer: Answer
  parameters: number | null
  onRetry: ((id: string) => void) | undefined
}

const endingNotes: Partial<Record<AnswerEnding, string>> = {
  stopped: 'Stopped',
  cut: 'Token limit reached',
  lost: 'Unfinished',
}

export const AnswerItem = memo(function AnswerItem({ answer, parameters, onRetry }: AnswerProps) {
  const { id, model, fault, ending } = answer
  const { thought, said } = thoughtAndSaid(answer)
  return (
    <li>
      <Speaker model={model} parameters={parameters} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        {thought && <Thought text={thought} label="Reasoning" />}
        {said && <Said text={said} />}
        {fault && <FaultNotice fault={fault} />}
      </div>
      <div className="-ml-2 mt-1.5 flex flex-wrap items-center gap-0.5 text-[13px] text-ink-3 tabular-nums">
        {said && <CopyButton value={said} label="Copy the answer" className={smallButton} />}
        {onRetry && (
          <button type="button" className={`${smallButton} px-2`} onClick={() => onRetry(id)}>
            <RotateCcw size={15} aria-hidden />
            Try again
          </button>
        )}
        <p className="px-2">
          {[endingNotes[ending], ...formatFigures(answer)].filter(Boolean).join(' · ')}
        </p>
      </div>
    </li>
  )
})

function formatFigures({ tokens, tokensPerSecond }: Answer): string[] {
  return [
    ...(tokensPerSecond ? [speedText(tokensPerSecond)] : []),
    ...(tokens ? [`${tokens} ${tokens === 1 ? 'token' : 'tokens'}`] : []),
  ]
}

const speedText = (tokensPerSecond: number) =>
  `${tokensPerSecond.toFixed(tokensPerSecond < 10 ? 1 : 0)} tok/s`

type DraftProps = { chat: Chat; parameters: number | null; running: Running }

/** The answer being received. It is announced to screen readers only when it has ended. */
export function DraftItem({ chat, parameters, running }: DraftProps) {
  const draft = useObservable(chat.draft)
  const { thought, said } = thoughtAndSaid(draft)
  const isSilent = draft.content === '' && draft.reasoning === ''
  const { tokensPerSecond } = draft
  return (
    <li aria-busy="true">
      <Speaker model={running.model} parameters={parameters} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        {isSilent && <Waiting until={running.queuedUntil} />}
        {thought && <Thought text={thought} label={said ? 'Reasoning' : 'Reasoning …'} />}
        {said && <Said text={said} />}
      </div>
      {tokensPerSecond !== undefined && (
        <p className="mt-1.5 flex h-8 items-center text-[13px] text-ink-3 tabular-nums">
          {speedText(tokensPerSecond)}
        </p>
      )}
    </li>
  )
}

function Said({ text }: { text: string }) {
  return (
    <div dir="auto" className="min-w-0">
      <Suspense fallback={<div className="whitespace-pre-wrap break-words">{text}</div>}>
        <Markdown source={text} />
      </Suspense>
    </div>
  )
}

function Speaker({ model, parameters }: { model: string; parameters: number | null }) {
  return (
    <h2 className="mb-2 flex items-center gap-2.5 font-mono font-normal text-[14px] text-ink-2 tracking-normal">
      <Glyph
        name={model.replace(/:.*/, '')}
        parameters={parameters}
        className="size-7 rounded-lg"
      />
      <span className="min-w-0 break-all">
        <Name text={model} />
      </span>
    </h2>
  )
}

function Thought({ text, label }: { text: string; label: string }) {
  return (
    <details className="rounded-xl border border-line px-4 py-2 text-[15px] text-ink-2">
      <summary className="text-[14px]">{label}</summary>
      <div className="mt-2 whitespace-pre-wrap border-line border-t pt-2 [overflow-wrap:anywhere]">
        {text}
      </div>
    </details>
  )
}

function Waiting({ until }: { until: number | undefined }) {
  const seconds = useSecondsUntil(until)
  if (seconds !== undefined) {
    return (
      <p role="status" className="text-ink-2">
        The daemon is busy. Retrying in {seconds} s.
      </p>
    )
  }
  return (
    <p className="flex h-6 items-center gap-1.5">
      <span className="sr-only">Waiting for the first token</span>
      {[0, 150, 300].map((delay) => (
        <span
          key={delay}
          className="size-1.5 animate-pulse rounded-full bg-ink-3"
          style={{ animationDelay: `${delay}ms` }}
        />
      ))}
    </p>
  )
}

function useSecondsUntil(until: number | undefined): number | undefined {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (until === undefined) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [until])
  return until === undefined ? undefined : Math.max(1, Math.ceil((until - now) / 1000))
}
