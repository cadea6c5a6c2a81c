import { useSyncExternalStore } from 'react'
import { useApp } from '../api/context.ts'
import { keepPref } from '../app/prefs.ts'

const listeners = new Set<() => void>()
let chosen: number | undefined

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** GB of memory of the visitor's machine, the same on the whole page, and kept. */
export function useMemory(): [number, (gb: number) => void] {
  const { prefs } = useApp()
  const memoryGb = useSyncExternalStore(
    subscribe,
    () => chosen ?? prefs.memoryGb,
    () => prefs.memoryGb,
  )
  return [memoryGb, chooseMemory]
}

function chooseMemory(gb: number) {
  chosen = gb
  keepPref('memory', String(gb))
  for (const listener of listeners) listener()
}
