import { pageFiles } from '@shoal/protocol/pages'

const links = [
  { href: '/install', text: 'Install shoal' },
  { href: '/docs', text: 'API' },
  { href: pageFiles.feed, text: 'Atom feed' },
]

export function Footer() {
  return (
    <footer className="page mt-24 mb-10">
      <div className="flex flex-wrap gap-x-6 gap-y-2 border-line border-t pt-6 text-[14px] text-ink-3">
        <span>shoal {__VERSION__}</span>
        {links.map(({ href, text }) => (
          <a key={href} href={href} className="hover:text-ink">
            {text}
          </a>
        ))}
      </div>
    </footer>
  )
}
