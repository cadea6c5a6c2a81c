import { formatAge, formatContext, formatCount, plural } from '@shoal/core/units'
import type { ModelRecord } from '@shoal/protocol/client'
import { Link } from '@tanstack/react-router'
import { Lock, Pencil } from 'lucide-react'
import { ScreenTitle } from '../app/screen-title.tsx'
import { Glyph } from '../fish/fish.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { LikeButton } from './like-button.tsx'

/**
 * The picture is next to the title. Everything else is below the picture and the title on phones, and next to the
 * picture on larger screens.
 */
const layout =
  'grid grid-cols-[auto_1fr] gap-x-4 gap-y-3 sm:grid-cols-[auto_minmax(0,1fr)_fit-content(15rem)] sm:grid-rows-[auto_1fr] sm:gap-x-7 sm:gap-y-0'

export function ModelHeader({ model }: { model: ModelRecord }) {
  const { name, display_name, description, owner, parameter_count } = model
  return (
    <>
      <Path model={model} />
      <div className={layout}>
        <Glyph
          name={name}
          parameters={parameter_count}
          className="size-16 rounded-2xl sm:row-span-2 sm:size-28"
        />
        <ScreenTitle className="min-w-0 self-center break-words font-bold text-[30px] tracking-[-0.035em] sm:text-[42px]">
          <span dir="auto">{display_name}</span>
        </ScreenTitle>
        <div className="min-w-0 max-sm:col-span-2 sm:col-start-2 sm:row-start-2">
          {description && (
            <p dir="auto" className="mt-1.5 max-w-[62ch] break-words text-[17px] text-ink-2">
              {description}
            </p>
          )}
          <Labels model={model} />
          <ShortFacts model={model} />
        </div>
        <div className="flex min-w-0 flex-wrap items-center gap-3 max-sm:col-span-2 sm:col-start-3 sm:row-span-2 sm:row-start-1 sm:flex-col sm:items-end">
          <LikeButton model={model} />
          <EditLink model={model} />
          <p className="text-[15px] text-ink-2">
            by{' '}
            <Link to="/u/$username" params={{ username: owner }} className="link">
              {owner}
            </Link>
          </p>
          <p className="flex max-w-full items-center gap-1 font-mono text-[13px] text-ink-2">
            <span className="truncate">{name}</span>
            <CopyButton
              value={name}
              label="Copy the name"
              className="grid size-7 shrink-0 place-items-center rounded-md hover:bg-sunken"
            />
          </p>
        </div>
      </div>
    </>
  )
}

/** Replaces the table of statistics on phones, so that the main content is near the top. */
function ShortFacts({ model }: { model: ModelRecord }) {
  const { parameter_count, context_length, downloads } = model
  const facts = [
    parameter_count === null ? null : formatCount(parameter_count),
    context_length === null ? null : `${formatContext(context_length)} ctx`,
    plural(downloads, 'download', formatCount),
    formatAge(model.created_at),
  ]
  return (
    <p className="spec mt-3 flex flex-wrap gap-x-4 gap-y-1 sm:hidden">
      {facts.map((fact) => fact !== null && <span key={fact}>{fact}</span>)}
    </p>
  )
}

function EditLink({ model }: { model: ModelRecord }) {
  if (!model.can_write) return null
  return (
    <Link to="/m/$name/edit" params={{ name: model.name }} className="ctl">
      <Pencil size={16} aria-hidden />
      Edit
    </Link>
  )
}

function Path({ model: { architecture } }: { model: ModelRecord }) {
  const look = 'underline-offset-4 hover:text-ink hover:underline'
  return (
    <nav aria-label="Breadcrumb" className="mb-5 text-[14px] text-ink-3">
      <Link to="/" className={look}>
        Models
      </Link>
      {architecture && (
        <>
          {' / '}
          <Link to="/" search={{ architecture }} className={`font-mono ${look}`}>
            {architecture}
          </Link>
        </>
      )}
    </nav>
  )
}

function Labels({ model: { tags, license, is_public } }: { model: ModelRecord }) {
  return (
    <ul className="mt-3 flex flex-wrap gap-2">
      {!is_public && (
        <li
          className="tag gap-1 text-ink"
          title="Only the owner, members and this registry’s administrators can see this model"
        >
          <Lock size={12} aria-hidden />
          Private
        </li>
      )}
      {tags.map((tag) => (
        <li key={tag}>
          <Link to="/" search={{ tag: [tag] }} className="tag hover:bg-sea-soft">
            {tag}
          </Link>
        </li>
      ))}
      {license && (
        <li>
          <Link
            to="/"
            search={{ license }}
            className="tag border border-line bg-transparent hover:border-line-strong"
          >
            {license}
          </Link>
        </li>
      )}
    </ul>
  )
}
