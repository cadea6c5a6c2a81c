import { type Fish, fishShape, school } from './school.ts'

export function FishPath({ x, y, angle, scale, opacity, isLead }: Fish) {
  const [left, top, turn, size] = [x, y, angle, scale].map((value) => Number(value.toFixed(2)))
  return (
    <path
      d={fishShape}
      className={isLead ? 'fill-roe' : 'fill-sea'}
      opacity={Number(opacity.toFixed(2))}
      transform={`translate(${left} ${top}) rotate(${turn}) scale(${size})`}
    />
  )
}

const makeKey = ({ x, y }: Fish) => `${x} ${y}`

export function School({ fish }: { fish: readonly Fish[] }) {
  return fish.map((one) => <FishPath key={makeKey(one)} {...one} />)
}

type GlyphProps = { name: string; parameters: number | null; className?: string }

/** A model's picture: its school of fish. */
export function Glyph({ name, parameters, className = 'size-14 rounded-xl' }: GlyphProps) {
  return (
    <svg viewBox="0 0 64 64" aria-hidden="true" className={`${className} shrink-0 bg-sunken`}>
      <School fish={school(name, parameters ?? 0)} />
    </svg>
  )
}

export function Logo() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className="size-9">
      <g className="fill-sea">
        <path d={fishShape} transform="translate(9.4 8) rotate(10) scale(1.02)" />
        <path d={fishShape} transform="translate(7 16.6)" />
        <path d={fishShape} transform="translate(9.4 25) rotate(-10) scale(1.02)" />
      </g>
      <path d={fishShape} className="fill-roe" transform="translate(23 16.6) scale(1.28)" />
    </svg>
  )
}
