import { Outlet } from '@tanstack/react-router'
import { Footer } from './footer.tsx'
import { Header } from './header.tsx'
import { SessionNotice } from './session-notice.tsx'
import { WaitNotice } from './waiting.tsx'

/** The layout of every page: the header, the current screen and the footer. */
export function Shell() {
  return (
    <>
      <a
        href="#main"
        className="focus:ctl-ink sr-only focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-50"
      >
        Skip to content
      </a>
      <Header />
      <main id="main" className="min-h-[70vh]">
        <Outlet />
      </main>
      <Footer />
      <SessionNotice />
      <WaitNotice />
    </>
  )
}
