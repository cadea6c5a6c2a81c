import type { ModelFile } from '@shoal/protocol/client'
import { CopyButton } from '../ui/copy-button.tsx'
import { Name } from '../ui/name.tsx'
import type { Choice } from './choices.ts'

/** The details needed to verify a downloaded file. */
export function FileDetails({ choice: { files } }: { choice: Choice }) {
  return (
    <>
      {files.map((file) => (
        <dl
          key={file.id}
          className="mb-3 grid gap-x-6 gap-y-1 rounded-xl bg-sunken p-4 text-[14px] sm:grid-cols-[auto_1fr]"
        >
          {listDetails(file).map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-ink-3">{name}</dt>
              <dd className="flex min-w-0 items-center gap-1 font-mono text-[13px]">
                <span className="min-w-0 break-all">
                  <Name text={value} />
                </span>
                <CopyButton
                  value={value}
                  label={`Copy ${name}`}
                  className="grid size-6 shrink-0 place-items-center rounded hover:bg-surface"
                />
              </dd>
            </div>
          ))}
        </dl>
      ))}
    </>
  )
}

/** Hashes that are not known yet are omitted. */
function listDetails(file: ModelFile): [name: string, value: string][] {
  const details: [string, string | null][] = [
    ['Filename', file.filename],
    ['SHA-256', file.sha256_hash],
    ['Info hash', file.torrent_info_hash],
  ]
  return details.flatMap(([name, value]) => (value ? [[name, value]] : []))
}
