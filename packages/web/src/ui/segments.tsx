import { useId } from 'react'

type Props<T extends string> = {
  legend: string
  values: readonly T[]
  chosen: T
  onChoose: (value: T) => void
  className?: string
}

/** A few choices side by side. They are radio buttons, so that the arrow keys work. */
export function Segments<T extends string>(props: Props<T>) {
  const { legend, values, chosen, onChoose, className = '' } = props
  const group = useId()
  return (
    <fieldset className={`flex flex-wrap ${className}`}>
      <legend className="sr-only">{legend}</legend>
      {values.map((value) => (
        <label
          key={value}
          className="grid h-8 cursor-pointer place-items-center rounded-md px-2 font-medium text-[13.5px] text-ink-2 outline-roe-ink has-[:checked]:bg-surface has-[:checked]:text-ink has-[:focus-visible]:outline-2"
        >
          <input
            type="radio"
            name={group}
            className="sr-only"
            checked={value === chosen}
            onChange={() => onChoose(value)}
          />
          {value}
        </label>
      ))}
    </fieldset>
  )
}
