import { type ReactNode, useId } from 'react'

type Props = { number: number; title: string; children: ReactNode }

export function Part({ number, title, children }: Props) {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <h2
        id={id}
        className="mb-5 flex items-baseline gap-3 border-line border-b pb-2.5 font-semibold text-[22px]"
      >
        <span className="font-medium font-mono text-[15px] text-roe-ink">{number}</span>
        {title}
      </h2>
      {children}
    </section>
  )
}
