import { Upload } from 'lucide-react'
import { type DragEvent, useId, useState } from 'react'
import { useApp } from '../../api/context.ts'
import { FieldNote } from '../../ui/field.tsx'
import { type Picked, pickedByDrop } from '../jobs/picked.ts'

type Props = {
  add: (picked: readonly Picked[]) => Promise<void>
  error: string | undefined
  isReading: boolean
  hasFiles: boolean
}

export function DropZone({ add, error, isReading, hasFiles }: Props) {
  const isPrinted = useApp().head !== undefined // files cannot be added until the scripts have loaded
  const id = useId()
  const [isOver, setOver] = useState(false)

  function dragOver(event: DragEvent) {
    event.preventDefault()
    setOver(true)
  }

  async function drop(event: DragEvent) {
    event.preventDefault()
    setOver(false)
    await add(await pickedByDrop(event.dataTransfer))
  }

  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the input inside is the accessible alternative */}
      <div
        data-drop
        onDragOver={dragOver}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
        className={`grid justify-items-center rounded-card border-2 border-dashed px-5 text-center transition-colors ${hasFiles ? 'py-6' : 'py-12'} ${isOver ? 'border-roe bg-roe-soft' : error ? 'border-roe-ink' : 'border-line-strong/55 bg-surface'}`}
      >
        <Upload size={26} aria-hidden className="text-ink-3" />
        <p className="mt-3 font-display font-semibold text-[19px] tracking-[-0.02em]">
          {hasFiles ? 'Drop more .gguf files here' : 'Drop .gguf files here'}
        </p>
        <p className="mt-1 text-[15px] text-ink-2">
          Add all quantizations of one model, and all parts of split files.
        </p>
        <input
          id={id}
          type="file"
          multiple
          disabled={isPrinted}
          accept=".gguf"
          className="peer sr-only"
          aria-invalid={error !== undefined}
          aria-describedby={error ? `${id}-note` : undefined}
          onChange={({ target }) => {
            const picked = [...(target.files ?? [])].map((file) => ({ file }))
            target.value = '' // so that the same file can be chosen again
            return add(picked)
          }}
        />
        <label
          htmlFor={id}
          className="ctl mt-4 cursor-pointer outline-offset-2 outline-roe-ink peer-focus-visible:outline-2"
        >
          {isReading ? 'Reading …' : 'Choose files'}
        </label>
      </div>
      {error && (
        <FieldNote id={`${id}-note`} isError>
          {error}
        </FieldNote>
      )}
    </>
  )
}
