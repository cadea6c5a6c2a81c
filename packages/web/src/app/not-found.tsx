import { Link } from '@tanstack/react-router'
import { Logo } from '../fish/fish.tsx'
import { PageHead } from './head.tsx'
import { ScreenTitle } from './screen-title.tsx'

export function NotFound() {
  return (
    <div className="page py-24">
      <PageHead title="Page not found" isHidden />
      <div className="mb-6 *:size-14">
        <Logo />
      </div>
      <ScreenTitle className="font-semibold text-4xl">Page not found</ScreenTitle>
      <p className="mt-3 text-ink-2">
        There is no page at this address.{' '}
        <Link to="/" className="link">
          See all models
        </Link>
      </p>
    </div>
  )
}
