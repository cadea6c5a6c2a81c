import { type Download, downloadCalls, type ModelRecord } from '@shoal/protocol/client'
import { ChevronDown, Copy, FileDown, Link as LinkIcon, Magnet, Share2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useCalls } from '../api/context.ts'
import { useCommands } from '../api/use-commands.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { copyText } from '../ui/copy-text.ts'
import { Disclosure } from '../ui/disclosure.tsx'
import type { Choice } from './choices.ts'

type Props = { model: ModelRecord; choice: Choice }

/**
 * The ways to download a file. Links are requested only when the visitor chooses one, because each request counts as a
 * download.
 */
export function GetMenu({ model, choice: { label, files } }: Props) {
  const client = useCalls(downloadCalls)
  const { toArgument } = useCommands()
  const [said, setSaid] = useState('')

  const withLinks = (act: (links: Download[]) => Promise<string> | string) => async () => {
    try {
      setSaid('')
      const links = await Promise.all(files.map(({ id }) => client.getDownload(model.id, id)))
      setSaid(await act(links))
    } catch (error) {
      setSaid(`Failed: ${(error as Error).message}`)
    }
  }
  const copy = (pick: (links: Download) => string) =>
    withLinks(async (links) => {
      await copyText(links.map(pick).join('\n'))
      return 'Copied'
    })
  const open = (pick: (links: Download) => string) =>
    withLinks((links) => {
      for (const link of links) openLink(pick(link))
      return ''
    })

  return (
    <div className="flex">
      <CopyButton
        value={`shoal pull ${toArgument(model.name, label)}`}
        label={`Pull ${label}: copy the command`}
        className="ctl h-9 rounded-r-none border-r-0 px-2.5 text-[14px]"
      >
        Pull
      </CopyButton>
      <Disclosure
        label={`More ways to get ${label}`}
        className="ctl h-9 rounded-l-none px-2"
        icon={<ChevronDown size={16} aria-hidden />}
      >
        <Way icon={<FileDown size={16} aria-hidden />} act={open(({ direct_url }) => direct_url)}>
          Download in browser
        </Way>
        <Way icon={<LinkIcon size={16} aria-hidden />} act={copy(({ direct_url }) => direct_url)}>
          Copy direct link (valid for 24 h)
        </Way>
        <Way icon={<Magnet size={16} aria-hidden />} act={open(({ magnet_uri }) => magnet_uri)}>
          Open magnet link
        </Way>
        <Way icon={<Copy size={16} aria-hidden />} act={copy(({ magnet_uri }) => magnet_uri)}>
          Copy magnet link
        </Way>
        <Way icon={<Share2 size={16} aria-hidden />} act={open(({ torrent_url }) => torrent_url)}>
          Save .torrent
        </Way>
      </Disclosure>
      <span role="status" className={said === '' ? 'sr-only' : 'pop static ml-2 px-3 py-1.5'}>
        {said}
      </span>
    </div>
  )
}

function Way({ icon, act, children }: { icon: ReactNode; act: () => void; children: ReactNode }) {
  return (
    <button type="button" className="pop-item" onClick={act}>
      {icon}
      {children}
    </button>
  )
}

/** Opens an attachment, or a link that another program handles, without leaving this page. */
function openLink(url: string) {
  const link = document.createElement('a')
  link.href = url
  link.download = ''
  link.click()
}
