import { useEffect, useRef, useState } from 'react'
import type { Publishing } from '../jobs/publishing.ts'

const minPauseMs = 5000

/**
 * Announces progress to screen readers, at every 10% and at every state change. Announcements of progress are at least
 * five seconds apart.
 */
export function Announcement({ publishing }: { publishing: Publishing }) {
  const words = wordsFor(publishing)
  const [said, setSaid] = useState('')
  const saidAt = useRef(0)
  const isTurn = publishing.state !== 'running'
  useEffect(() => {
    const pauseMs = isTurn ? 0 : Math.max(0, saidAt.current + minPauseMs - Date.now())
    const timer = setTimeout(() => {
      saidAt.current = Date.now()
      setSaid(words)
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [words, isTurn])
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  )
}

function wordsFor({ state, job, share, files }: Publishing): string {
  const { displayName } = job
  if (state === 'done') return `${displayName} is published.`
  if (state === 'paused') return 'The upload is paused.'
  if (state === 'failed') return 'The upload has stopped.'
  const tenth = Math.floor(share * 10) * 10
  if (files.some(({ stage }) => stage === 'sending')) return `${tenth} percent done.`
  if (files.some(({ stage }) => stage === 'checking'))
    return `The registry is checking the ${files.length === 1 ? 'file' : 'files'}.`
  return `Reading the files for ${displayName}.`
}
