import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useClient } from '../api/context.ts'
import { schoolQuery } from '../api/queries.ts'
import { School } from '../fish/fish.tsx'
import { greatSchool } from '../fish/school.ts'

const width = 720
const height = 268
/** Returns how many of the most pulled models are drawn in orange: one in eight, up to nine. */
const leadsAmong = (count: number) => Math.min(9, Math.ceil(count / 8))

/** Shows the registry as a school of fish, with one fish for each of the 240 most pulled models. */
export function Masthead() {
  const { data } = useQuery(schoolQuery(useClient()))
  const fish = useMemo(() => {
    const counts = data?.parameter_counts ?? []
    const swimmers = counts.map((parameters, place) => ({
      parameters: parameters ?? 0,
      isLead: place < leadsAmong(counts.length),
    }))
    return greatSchool(swimmers, width, height)
  }, [data])
  return (
    <div className="overflow-hidden border-line border-b bg-sunken">
      <div className="page grid items-center sm:h-[268px] sm:grid-cols-[minmax(380px,1fr)_1.35fr]">
        <div className="pt-6 sm:pt-0">
          <h1 className="font-bold text-[31px] leading-[1.02] tracking-[-0.04em] sm:text-[50px]">
            Open models, carried by everyone.
          </h1>
          <p className="mt-4 text-[17px] text-ink-2 max-sm:hidden">
            Pull a model, and you help the next person pull it.
          </p>
        </div>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          aria-hidden="true"
          className={`school h-full w-full ${fish.length > 0 ? 'max-sm:h-[112px]' : 'max-sm:h-6'}`}
        >
          <School fish={fish} />
        </svg>
      </div>
    </div>
  )
}
