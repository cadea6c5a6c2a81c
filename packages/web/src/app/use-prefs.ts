import { useApp } from '../api/context.ts'
import { changedPrefs, type Prefs } from '../prefs.ts'
import { useObservable } from '../use-observable.ts'

/** The visitor's preferences, shared by the whole page. */
export function usePrefs(): Prefs {
  const { prefs } = useApp()
  return { ...prefs, ...useObservable(changedPrefs) }
}
