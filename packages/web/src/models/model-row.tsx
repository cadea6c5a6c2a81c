import {
  formatAge,
  formatBytes,
  formatContext,
  formatCount,
  formatMemory,
  plural,
} from '@shoal/core/units'
import { memoryWithContext, usualCacheBytesPerToken, usualContext } from '@shoal/model-file/choices'
import type { Model } from '@shoal/protocol/client'
import { Link } from '@tanstack/react-router'
import { ArrowDownToLine, Heart, Lock } from 'lucide-react'
import { Glyph } from '../fish/fish.tsx'

type Props = {
  model: Model
  /** One level below the list's heading. */
  heading: 'h2' | 'h3'
  showsOwner?: boolean
  /** The context length for which memory is estimated, in tokens. */
  contextTokens?: number | undefined
}

export function ModelRow({ heading: Heading, ...props }: Props) {
  const { model } = props
  const { name, display_name, description, is_public } = model
  return (
    <li className="group relative flex gap-4 border-line border-t py-5 sm:gap-5">
      <Glyph name={name} parameters={model.parameter_count} />
      <div className="min-w-0 flex-1">
        <Heading className="font-semibold text-[18px] tracking-[-0.015em]">
          <Link
            to="/m/$name"
            params={{ name }}
            className="break-words after:absolute after:inset-0 after:rounded-lg group-hover:text-roe-ink"
          >
            <span dir="auto">{display_name}</span>
          </Link>
          {!is_public && (
            <span className="tag ml-2 gap-1 align-middle font-sans tracking-normal">
              <Lock size={12} aria-hidden />
              Private
            </span>
          )}
        </Heading>
        {description && (
          <p dir="auto" className="mt-0.5 line-clamp-2 break-words text-[15px] text-ink-2">
            {description}
          </p>
        )}
        <Facts {...props} />
      </div>
      <Counts model={model} />
    </li>
  )
}

function Facts({ model, showsOwner, contextTokens }: Omit<Props, 'heading'>) {
  const { parameter_count, context_length } = model
  const facts = [
    showsOwner ? `by ${model.owner}` : null,
    parameter_count === null ? null : formatCount(parameter_count),
    model.architecture,
    context_length === null ? null : `${formatContext(context_length)} ctx`,
    formatSize(model, contextTokens),
    model.license,
  ].filter((fact) => fact !== null)
  return (
    <p className="spec mt-2 flex flex-wrap gap-x-4 gap-y-1">
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
      <span className="text-ink-3 sm:hidden">
        {plural(model.downloads, 'download', formatCount)}
      </span>
      <span className="text-ink-3 sm:hidden">{plural(model.likes, 'like', formatCount)}</span>
    </p>
  )
}

/** Returns the memory needed, if known, rather than a file size, because a file may be only a shard or a companion. */
function formatSize(model: Model, contextTokens = usualContext): string {
  const { min_memory_bytes, min_file_size_bytes, context_length, cache_bytes_per_token } = model
  if (min_memory_bytes !== null) {
    const memoryBytes = memoryWithContext(min_memory_bytes, {
      tokens: contextTokens,
      maxTokens: context_length,
      bytesPerToken: cache_bytes_per_token ?? usualCacheBytesPerToken(min_file_size_bytes ?? 0),
    })
    return `runs in ${formatMemory(memoryBytes)}`
  }
  return min_file_size_bytes === null ? 'no files yet' : `from ${formatBytes(min_file_size_bytes)}`
}

function Counts({ model }: { model: Model }) {
  const { downloads, likes, liked, created_at } = model
  return (
    <dl className="hidden w-28 shrink-0 content-start justify-items-end gap-1 text-[14px] text-ink-2 tabular-nums sm:grid">
      <div className="flex items-center gap-1.5">
        <dt className="sr-only">Downloads</dt>
        <dd>{formatCount(downloads)}</dd>
        <ArrowDownToLine size={15} aria-hidden className="text-ink-3" />
      </div>
      <div className="flex items-center gap-1.5">
        <dt className="sr-only">{liked ? 'Likes, including yours' : 'Likes'}</dt>
        <dd>{formatCount(likes)}</dd>
        <Heart size={15} aria-hidden className={liked ? 'fill-roe text-roe' : 'text-ink-3'} />
      </div>
      <div>
        <dt className="sr-only">Published</dt>
        <dd className="text-ink-3">{formatAge(created_at)}</dd>
      </div>
    </dl>
  )
}

export function ModelRowSkeleton({ count }: { count: number }) {
  return (
    <div aria-busy="true">
      {Array.from({ length: count }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical
        <div key={row} className="flex gap-5 border-line border-t py-5">
          <div className="skeleton size-14 rounded-xl" />
          <div className="grid flex-1 grid-cols-1 gap-2.5">
            <div className="skeleton h-5 w-56 max-w-full" />
            <div className="skeleton h-4 w-4/5" />
            <div className="skeleton h-4 w-72 max-w-full" />
          </div>
        </div>
      ))}
    </div>
  )
}
