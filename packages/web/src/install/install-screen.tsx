import { formatBytes } from '@shoal/core/units'
import type { Releases } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useApp, useClient } from '../api/context.ts'
import { releasesQuery } from '../api/queries.ts'
import { PageHead } from '../app/head.tsx'
import { ScreenTitle } from '../app/screen-title.tsx'
import { CommandLine } from '../ui/command-line.tsx'
import { Failure } from '../ui/problem.tsx'

/** The names under which `npm run release` writes what is needed to verify a release. */
const signedFiles = ['SHA256SUMS', 'SHA256SUMS.sig', 'SHA256SUMS.pem']

export function InstallScreen() {
  const { data, error, refetch } = useQuery(releasesQuery(useClient()))
  return (
    <div className="page max-w-[820px] pt-12">
      <PageHead title="Install shoal" isHidden />
      <ScreenTitle className="font-bold text-[34px] tracking-[-0.035em]">Install shoal</ScreenTitle>
      {error && <Failure as="h2" error={error} onRetry={() => refetch()} />}
      {data?.status === 'offered' && <Offer {...data} />}
      {data && data.status !== 'offered' && <Unavailable status={data.status} />}
    </div>
  )
}

const Text = ({ children }: { children: ReactNode }) => (
  <p className="mt-3 text-[16px] text-ink-2">{children}</p>
)

const Heading = ({ children }: { children: ReactNode }) => (
  <h2 className="mt-12 font-semibold text-[22px]">{children}</h2>
)

/** Says what the operator and the visitor can do without a release. */
function Unavailable({ status }: Pick<Releases, 'status'>) {
  if (status === 'packing')
    return (
      <Text>
        This registry is preparing shoal for installation, which takes about a minute after an
        update. Reload this page in a minute.
      </Text>
    )
  return (
    <>
      {status === 'loopback_base_url' ? (
        <Text>
          This registry cannot offer shoal to other machines, because its base URL works only on its
          own machine. Its operator can set <code>SHOAL_BASE_URL</code> to the address that other
          machines use.
        </Text>
      ) : (
        <>
          <Text>This registry does not offer a release of shoal yet.</Text>
          <Heading>If you run this registry</Heading>
          <Text>In the clone of shoal, make a release, and add it to the registry:</Text>
          <CommandLine text="npm run release" className="mt-3" />
          <CommandLine text="./shoal admin releases add dist/release" className="mt-3" />
        </>
      )}
      <Heading>Without shoal</Heading>
      <Text>
        You can download the files of every model with your browser, or with any BitTorrent client:
        see the tab <em>Files</em> of a model.{' '}
        <Link to="/" className="link">
          See all models
        </Link>
      </Text>
    </>
  )
}

function Offer({ releases, script_sha256, key_sha256s }: Releases) {
  const { registryUrl } = useApp()
  return (
    <>
      <Text>
        The script installs the command <code>shoal</code> in <code>~/.local</code> for your user,
        without root privileges. It makes this registry the default, unless another registry is
        already set.
      </Text>
      {!registryUrl.startsWith('https:') && (
        <p className="panel mt-5 border-roe-ink text-[15px]">
          <strong>This registry uses HTTP.</strong> Anyone on the network between you and the
          registry can change everything that it sends: this page, its checksums, the script and the
          program.
        </p>
      )}
      <ol className="mt-6 list-decimal space-y-5 pl-5">
        <li>
          Download the script:
          <CommandLine
            text={`curl -fsSo shoal-install.sh '${registryUrl}/install'`}
            className="mt-2"
          />
        </li>
        <li>
          Check that it is the script that this registry serves now. (This proves more if the
          registry’s operator gives you the checksum over another channel.)
          <CommandLine
            text={`echo '${script_sha256}  shoal-install.sh' | sha256sum --check`}
            className="mt-2"
          />
        </li>
        <li>
          Run it. To install shoal in another folder, add <code>--prefix FOLDER</code>.
          <CommandLine text="sh shoal-install.sh" className="mt-2" />
        </li>
      </ol>
      <Text>
        Later, <code>shoal upgrade</code> installs newer releases, but only those that are signed
        with the same key.
      </Text>
      <Heading>Signing key</Heading>
      <Text>
        The SHA-256 of the public key. On the registry’s host,{' '}
        <code>shoal admin releases ls --json</code> also shows it.
      </Text>
      {key_sha256s.map((key) => (
        <CommandLine key={key} text={key} label="Copy the SHA-256 of the key" className="mt-3" />
      ))}
      <Heading>All files</Heading>
      {releases.map((release) => (
        <Files key={release.platform} {...release} />
      ))}
    </>
  )
}

function Files({ version, platform, files }: Releases['releases'][number]) {
  const toPath = (name: string) => `/install/${platform}/${encodeURIComponent(name)}`
  return (
    <>
      <h3 className="mt-6 font-semibold text-[18px]">
        shoal {version} for {platform}
      </h3>
      <ul className="mt-2 divide-y divide-line">
        {files.map(({ filename, size_bytes, sha256 }) => (
          <li key={filename} className="py-3">
            <a href={toPath(filename)} className="link break-words">
              {filename}
            </a>{' '}
            <span className="text-ink-3">{formatBytes(size_bytes)}</span>
            <code className="mt-1 block break-all font-mono text-[13px] text-ink-2">{sha256}</code>
          </li>
        ))}
        <li className="flex flex-wrap gap-x-4 py-3">
          {signedFiles.map((name) => (
            <a key={name} href={toPath(name)} className="link">
              {name}
            </a>
          ))}
        </li>
      </ul>
    </>
  )
}
