import { bareHost, reachOfHost } from '@shoal/core/addresses'
import type { RunTarget } from '@shoal/core/references'
import { formatBytes, formatMemory } from '@shoal/core/units'
import type { DaemonRegistry, RegistryFile } from '@shoal/protocol/inference-client'

type Props = {
  target: RunTarget
  known: DaemonRegistry | undefined
  /** The file; undefined until the registry has responded. */
  file: RegistryFile | undefined
}

/** Shows what is known so far about the model in a link. */
export function RunFacts({ target, known, file }: Props) {
  const { protocol, host } = new URL(target.registry)
  const facts = [
    ['Scheme', protocol === 'https:' ? 'https' : 'http, which is not encrypted'],
    ['Host', host],
    ['Model', target.name],
    ['File', file?.label ?? target.label ?? 'the one that fits best'],
    ['Size', file ? formatBytes(file.size_bytes) : 'unknown until the registry is contacted'],
    ...(file ? [['Memory', formatNeed(file)]] : []),
  ] as const
  return (
    <>
      <dl className="mt-5 grid grid-cols-[auto_1fr] gap-x-6 gap-y-2 rounded-card border border-line bg-surface p-5 text-[15px]">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-3">{name}</dt>
            <dd className="run-fact min-w-0 font-mono text-[14px] leading-6">{value}</dd>
          </div>
        ))}
      </dl>
      {known ? (
        <p className="mt-4 text-[15px] text-ink-2">
          This registry is configured on this machine.
          {known.has_credentials &&
            ' You are signed in to it, and your credentials are sent with requests.'}
        </p>
      ) : (
        <Unknown host={host} hostname={new URL(target.registry).hostname} />
      )}
    </>
  )
}

function formatNeed({ memory_bytes, memory_limit_bytes, fits }: RegistryFile): string {
  const limit = formatMemory(memory_limit_bytes)
  return fits
    ? `${formatMemory(memory_bytes)} of ${limit}`
    : `${formatMemory(memory_bytes)}, but models can use only ${limit}`
}

function Unknown({ host, hostname }: { host: string; hostname: string }) {
  const reach = reachOfHost(bareHost(hostname))
  return (
    <div className="mt-4 rounded-card border border-roe-ink/45 bg-roe-soft px-4 py-3 text-[15px]">
      <p className="break-words font-semibold">
        The registry {host} is not configured on this machine
      </p>
      <ul className="mt-1 list-disc pl-4 text-ink-2">
        <li>Any web page can contain a link like this one. Continue only if you trust {host}.</li>
        {reach === 'loopback' && (
          <li>The address belongs to this machine, so the request goes to a local program.</li>
        )}
        {reach === 'private' && (
          <li>The address is on your local network, so the request goes to a device there.</li>
        )}
        {/(^|\.)xn--/.test(hostname) && (
          <li>
            The hostname contains letters that can look like other letters, and is shown in its
            ASCII form (Punycode).
          </li>
        )}
      </ul>
    </div>
  )
}
