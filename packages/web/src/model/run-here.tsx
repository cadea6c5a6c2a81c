import { formatRunLink } from '@shoal/core/references'
import type { ModelRecord } from '@shoal/protocol/client'
import { Link } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useApp } from '../api/context.ts'
import { usePrefs } from '../app/use-prefs.ts'
import type { Choice } from './choices.ts'

type Props = { model: ModelRecord; choice: Choice; className?: string }

/**
 * A plain link to the page of the visitor's daemon, which asks whether to pull and run the file. This page does not
 * check whether a daemon is running: browsers ask the visitor before they let a page access the local machine.
 */
export function RunHere({ model, choice, className = 'ctl h-9 px-2.5 text-[14px]' }: Props) {
  const { registryUrl: registry } = useApp()
  const { daemon } = usePrefs()
  const { label, files, parts, isCompanion } = choice
  if (daemon === undefined || isCompanion || files.length < parts) return null
  const target = { registry, name: model.name, label }
  return (
    <a
      href={formatRunLink(daemon, target)}
      target="_blank"
      rel="noreferrer"
      aria-label={`Run here: ${label}`}
      title="Opens the daemon’s page on your machine in a new tab"
      className={`whitespace-nowrap ${className}`}
    >
      <Play size={15} aria-hidden />
      Run here
    </a>
  )
}

export function NothingOpened({ className }: { className: string }) {
  const { daemon } = usePrefs()
  return (
    <p className={className}>
      {daemon === undefined
        ? 'No daemon is running on this machine. '
        : '“Run here” opens the daemon’s page on your machine. Nothing opened? '}
      <Link to="/install" className="link">
        Install shoal from this registry
      </Link>
    </p>
  )
}
