type Props = { children: string; onDiscard: () => void }

/** Shows that a form contains changes from an earlier visit. */
export function RestoredNote({ children, onDiscard }: Props) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 rounded-xl bg-sea-soft px-4 py-3 text-[15px]">
      <p role="status">{children}</p>
      <button type="button" className="ctl h-9" onClick={onDiscard}>
        Discard changes
      </button>
    </div>
  )
}
