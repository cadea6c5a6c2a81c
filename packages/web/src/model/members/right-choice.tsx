import type { MemberRight } from '@shoal/protocol'
import type { ComponentProps } from 'react'

const texts: Record<MemberRight, string> = { read: 'Can read', write: 'Can write' }

export const describeRight = (right: MemberRight): string => texts[right]

type Props = Omit<ComponentProps<'select'>, 'onChange'> & {
  onChoose?: (right: MemberRight) => void
}

export const RightChoice = ({ onChoose, ...select }: Props) => (
  <select
    className="ctl"
    {...select}
    {...(onChoose && { onChange: ({ target }) => onChoose(target.value as MemberRight) })}
  >
    {Object.entries(texts).map(([right, text]) => (
      <option key={right} value={right}>
        {text}
      </option>
    ))}
  </select>
)
