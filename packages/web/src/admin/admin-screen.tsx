import type { Me } from '@shoal/protocol'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, notFound } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { SignInFirst } from '../account/sign-in-first.tsx'
import { useClient } from '../api/context.ts'
import { meQuery } from '../api/queries.ts'
import { PageHead } from '../app/head.tsx'
import { ScreenTitle } from '../app/screen-title.tsx'
import { SectionLinks } from '../app/section-links.tsx'
import { Failure } from '../ui/problem.tsx'
import { AccountsSection } from './accounts-section.tsx'
import { AuditSection } from './audit-section.tsx'
import { InvitationsSection } from './invitations-section.tsx'
import { StatusSection } from './status-section.tsx'

const route = getRouteApi('/admin/{-$section}')

type Section = {
  name: string
  title: string
  Content: (props: { me: Me }) => React.ReactNode
}

const sections: [Section, ...Section[]] = [
  { name: 'accounts', title: 'Accounts', Content: AccountsSection },
  { name: 'invitations', title: 'Invitations', Content: InvitationsSection },
  { name: 'audit', title: 'Audit log', Content: AuditSection },
  { name: 'status', title: 'Status', Content: StatusSection },
]

/** The administration page. Signed-in users who are not administrators see “Page not found” instead. */
export function AdminScreen() {
  const me = useQuery(meQuery(useClient()))
  const { section } = route.useParams()
  const chosen = sections.find(({ name }) => name === section) ?? sections[0]
  if (me.data && !me.data.is_admin) throw notFound()
  return (
    <div className="page pt-10">
      <PageHead title={`Administration: ${chosen.title}`} isHidden />
      <ScreenTitle className="font-bold text-[34px] tracking-[-0.035em]">
        Administration
      </ScreenTitle>
      {me.isError && <Failure as="h2" error={me.error} onRetry={() => me.refetch()} />}
      {me.isPending && <div className="skeleton mt-7 h-40" aria-busy="true" />}
      {me.isSuccess && <ForAdmin me={me.data} chosen={chosen} />}
    </div>
  )
}

function ForAdmin({ me, chosen }: { me: Me | null; chosen: Section }) {
  const [wasSignedIn, setWasSignedIn] = useState(false)
  useEffect(() => {
    if (me) setWasSignedIn(true)
  }, [me])
  if (!me) {
    return (
      <div role="status" className="mt-7">
        <SignInFirst
          {...(wasSignedIn && { text: 'Your session has ended. Sign in to continue.' })}
        />
      </div>
    )
  }
  return (
    <>
      <nav aria-label="Administration" className="mt-6">
        <ul className="flex flex-wrap gap-1">
          <SectionLinks to="/admin/{-$section}" sections={sections} chosen={chosen} />
        </ul>
      </nav>
      <section aria-labelledby="section-title" className="mt-7 min-w-0">
        <h2 id="section-title" className="mb-5 font-semibold text-[22px]">
          {chosen.title}
        </h2>
        <chosen.Content me={me} />
      </section>
    </>
  )
}
