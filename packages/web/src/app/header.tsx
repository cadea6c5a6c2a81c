import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Menu } from 'lucide-react'
import { useClient } from '../api/context.ts'
import { meQuery } from '../api/queries.ts'
import { Logo } from '../fish/fish.tsx'
import { Disclosure } from '../ui/disclosure.tsx'
import { exactly } from '../ui/exactly.ts'
import { AccountMenu } from './account-menu.tsx'
import { SearchBox } from './search-box.tsx'
import { ThemeSwitch } from './theme-switch.tsx'

export function Header() {
  return (
    <header className="sticky top-0 z-40 border-line border-b bg-bg/90 backdrop-blur">
      <div className="page flex h-16 items-center gap-3 sm:gap-7">
        <Link to="/" className="flex items-center gap-2" aria-label="shoal, all models">
          <Logo />
          <span className="hidden font-bold font-display text-[22px] tracking-[-0.03em] min-[420px]:inline">
            shoal
          </span>
        </Link>
        <SearchBox />
        <nav
          aria-label="Main"
          className="ml-auto hidden items-center gap-6 font-medium text-[15px] text-ink-2 md:flex"
        >
          <Links className="hover:text-ink aria-[current=page]:text-ink" />
        </nav>
        <div className="flex items-center gap-1 sm:gap-3">
          <ThemeSwitch />
          <Account />
          <div className="md:hidden">
            <Disclosure label="Menu" className="ctl-quiet" icon={<Menu size={20} aria-hidden />}>
              <Links className="pop-item" />
            </Disclosure>
          </div>
        </div>
      </div>
    </header>
  )
}

function Links({ className }: { className: string }) {
  return (
    <>
      <Link to="/" activeOptions={exactly} className={className}>
        Models
      </Link>
      <Link to="/chat" className={className}>
        Chat
      </Link>
      <Link to="/publish" className={className}>
        Publish
      </Link>
    </>
  )
}

function Account() {
  const { data: me } = useQuery(meQuery(useClient()))
  if (me) return <AccountMenu username={me.username} isAdmin={me.is_admin} />
  return (
    <Link to="/login" className="ctl-ink max-sm:px-3">
      Sign in
    </Link>
  )
}
