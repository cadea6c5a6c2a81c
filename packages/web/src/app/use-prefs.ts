import { useApp } from '../api/context.ts'
import { changedPrefs, type Prefs } from '../prefs.ts'
import { useObservable } from '../use-observable.ts'

/** Returns the visitor's current preferences, which all components share. */
export function usePrefs(): Prefs {
  const { prefs } = useApp()
  return { ...prefs, ...useObservable(changedPrefs) }
}
