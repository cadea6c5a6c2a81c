type Props = {
  label: string
  /** The completed fraction, from 0 to 1. */
  share: number
  className: string
}

export function Bar({ label, share, className }: Props) {
  const percent = Math.min(100, Math.max(0, share * 100))
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(percent)}
      className={`overflow-hidden rounded-full bg-sunken ${className}`}
    >
      <div
        className="h-full rounded-full bg-roe transition-[width] duration-200 ease-linear"
        style={{ width: `${percent}%` }}
      />
    </div>
  )
}
