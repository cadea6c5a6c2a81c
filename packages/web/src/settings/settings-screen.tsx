import type { Me } from '@shoal/protocol'
import { getRouteApi } from '@tanstack/react-router'
import { SignInFirst } from '../account/sign-in-first.tsx'
import { useSession } from '../api/session.ts'
import { PageHead } from '../app/head.tsx'
import { ScreenTitle } from '../app/screen-title.tsx'
import { SectionLinks } from '../app/section-links.tsx'
import { KeysSection } from './keys-section.tsx'
import { MachineSection } from './machine-section.tsx'
import { ProfileSection } from './profile-section.tsx'
import { SessionsSection } from './sessions-section.tsx'
import { SharingSection } from './sharing-section.tsx'

const route = getRouteApi('/settings/{-$section}')

type Section = {
  name: string
  title: string
  /** The content of a section that only signed-in users can see. Other sections set `forAll` instead. */
  forUser?: (props: { user: Me }) => React.ReactNode
  forAll?: () => React.ReactNode
}

const sections: [Section, ...Section[]] = [
  { name: 'profile', title: 'Profile', forUser: ProfileSection },
  { name: 'keys', title: 'API keys', forUser: KeysSection },
  { name: 'sessions', title: 'Sessions', forUser: SessionsSection },
  { name: 'machine', title: 'This machine', forAll: MachineSection },
  { name: 'sharing', title: 'Sharing', forAll: SharingSection },
]

export function SettingsScreen() {
  const { section } = route.useParams()
  const chosen = sections.find(({ name }) => name === section) ?? sections[0]
  return (
    <div className="page pt-10">
      <PageHead title={`Settings: ${chosen.title}`} isHidden />
      <ScreenTitle className="font-bold text-[34px] tracking-[-0.035em]">Settings</ScreenTitle>
      <div className="mt-7 grid gap-x-14 gap-y-7 md:grid-cols-[180px_1fr]">
        <nav aria-label="Settings" className="min-w-0">
          <ul className="flex flex-wrap gap-1 md:flex-col">
            <SectionLinks to="/settings/{-$section}" sections={sections} chosen={chosen} />
          </ul>
        </nav>
        <section aria-labelledby="section-title" className="min-w-0 max-w-[680px]">
          <h2 id="section-title" className="mb-5 font-semibold text-[22px]">
            {chosen.title}
          </h2>
          <Content section={chosen} />
        </section>
      </div>
    </div>
  )
}

function Content({ section: { forUser: ForUser, forAll: ForAll } }: { section: Section }) {
  const { user, isPending } = useSession()
  if (ForAll) return <ForAll />
  if (isPending) return <div className="skeleton h-40" aria-busy="true" />
  if (!user || !ForUser) return <SignInFirst />
  return <ForUser key={user.username} user={user} />
}
