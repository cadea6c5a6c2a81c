import { useRef } from 'react'
import { useCardTools } from './use-card-tools.ts'

/** A card rendered by the registry. */
export function CardText({ html }: { html: string }) {
  const text = useRef<HTMLDivElement>(null)
  useCardTools(text, html)
  return (
    <div
      ref={text}
      className="prose"
      dir="auto"
      // biome-ignore lint/security/noDangerouslySetInnerHtml: the registry sanitizes the HTML
      dangerouslySetInnerHTML={{ __html: html }}
    />
  )
}

const lines = ['w-11/12', 'w-3/4', 'w-5/6', 'w-2/5']

export function CardSkeleton() {
  return (
    <div className="grid gap-3 pt-8" aria-busy="true">
      {lines.map((width) => (
        <div key={width} className={`skeleton h-4 ${width}`} />
      ))}
    </div>
  )
}
