import { type ComponentProps, lazy, Suspense, useId, useRef, useState } from 'react'
import { FieldNote } from '../ui/field.tsx'
import { Segments } from '../ui/segments.tsx'

type Props = ComponentProps<'textarea'> & {
  label: string
  hint: string
  error?: string | undefined
  /** The model's names. If the card's first heading only repeats one of them, the preview hides the heading. */
  names: string[]
}

/** Loaded on the first preview, because most visitors do not write cards. */
const CardPreview = lazy(async () => ({
  default: (await import('./card-preview.tsx')).CardPreview,
}))

const views = ['Write', 'Preview'] as const
type View = (typeof views)[number]

/** A card editor with a preview. */
export function CardField({ label, hint, error, names, ...area }: Props) {
  const id = useId()
  const text = useRef<HTMLTextAreaElement>(null)
  /** The text in the preview; undefined while the editor is shown. */
  const [previewed, setPreviewed] = useState<string>()
  const isPreview = previewed !== undefined && error === undefined
  const show = (chosen: View) =>
    setPreviewed(chosen === 'Preview' ? (text.current?.value ?? '') : undefined)

  return (
    <div>
      <div className="mb-1.5 flex items-end justify-between gap-3">
        <label className="label mb-0" htmlFor={id}>
          {label}
        </label>
        <Segments
          legend="Model card"
          values={views}
          chosen={isPreview ? 'Preview' : 'Write'}
          onChoose={show}
          className="rounded-ctl bg-sunken p-0.5"
        />
      </div>
      <textarea
        ref={text}
        id={id}
        hidden={isPreview}
        className="field block font-mono text-[14px]"
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-note`}
        {...area}
      />
      {isPreview && (
        <div className="min-h-24 rounded-ctl border border-line px-4 pb-4">
          <Suspense>
            <CardPreview text={previewed} names={names} />
          </Suspense>
        </div>
      )}
      <FieldNote id={`${id}-note`} isError={error !== undefined}>
        {error ?? hint}
      </FieldNote>
    </div>
  )
}
