import { Link } from '@tanstack/react-router'
import { exactly } from '../ui/exactly.ts'

type Section = { name: string; title: string }
type Props = {
  to: '/admin/{-$section}' | '/settings/{-$section}'
  sections: readonly Section[]
  chosen: Section
}

/** Links to the sections of a screen, for its navigation. */
export const SectionLinks = ({ to, sections, chosen }: Props) =>
  sections.map(({ name, title }) => (
    <li key={name}>
      <Link
        to={to}
        params={{ section: name }}
        activeOptions={exactly}
        aria-current={name === chosen.name ? 'page' : undefined}
        className="block whitespace-nowrap rounded-md px-2.5 py-1.5 text-[15px] text-ink-2 hover:bg-sunken aria-[current]:bg-sea-soft aria-[current]:font-medium aria-[current]:text-ink"
      >
        {title}
      </Link>
    </li>
  ))
