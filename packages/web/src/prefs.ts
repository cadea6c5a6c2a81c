/** Visitor preferences, in cookies so that the server can apply them; they do not identify the visitor. */

import { observable } from './observable.ts'

export type Theme = 'light' | 'dark'
export type Prefs = {
  /** Undefined: match the system. */
  theme: Theme | undefined
  /** GB of memory of the visitor's machine. */
  memoryGb: number
  /** Where the daemon of the visitor's machine is: an origin. Undefined where none runs there, as far as is known. */
  daemon: string | undefined
  /** Whether `/` leads to the search. */
  hasSlashKey: boolean
}

export const memorySizes = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256] as const
export const usualDaemon = 'http://localhost:11434'
const usualMemoryGb = 16
const keptSeconds = 365 * 86_400

/** What the registry tells a visitor of its own machine: where the daemon is; empty where it knows that there is none. */
export type ToldDaemon = string | undefined

/** Where a daemon is expected that the visitor has not named. */
export const expectedDaemon = (reported: ToldDaemon): string | undefined =>
  (reported ?? usualDaemon) || undefined

/** `cookies` is what a `Cookie` header, or `document.cookie`, holds. */
export function readPrefs(cookies: string, reported?: ToldDaemon): Prefs {
  const values = new Map(cookies.split(/; */).map((pair) => pair.split('=') as [string, string]))
  const theme = values.get('theme')
  const memoryGb = Number(values.get('memory'))
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : undefined,
    memoryGb: isMemorySize(memoryGb) ? memoryGb : usualMemoryGb,
    daemon: originFrom(values.get('daemon') ?? '') ?? expectedDaemon(reported),
    hasSlashKey: values.get('slash') !== 'off',
  }
}

export const isMemorySize = (value: number): boolean => memorySizes.some((size) => size === value)

/** `http://gpu:11434` of what somebody wrote to mean it; undefined where that is no web address. */
export function originFrom(text: string): string | undefined {
  const address = /^https?:\/\//i.test(text) ? text : `http://${text}`
  if (text === '' || !URL.canParse(address)) return undefined
  const { origin, hostname } = new URL(address)
  return /^[\w.:[\]-]+$/.test(hostname) ? origin : undefined
}

/** What was chosen since the page came. */
export const changedPrefs = observable<Partial<Prefs>>({})

/** Keeps what was chosen, and shows it on the whole page. */
export function changePrefs(change: Partial<Prefs>) {
  const { theme, memoryGb, daemon, hasSlashKey } = change
  if ('theme' in change) {
    keep('theme', theme)
    if (theme) document.documentElement.dataset.theme = theme
    else delete document.documentElement.dataset.theme
  }
  if (memoryGb !== undefined) keep('memory', String(memoryGb))
  if (daemon !== undefined) {
    const expected = expectedDaemon(document.documentElement.dataset.daemon)
    keep('daemon', daemon === expected ? undefined : daemon)
  }
  if (hasSlashKey !== undefined) keep('slash', hasSlashKey ? undefined : 'off')
  changedPrefs.set({ ...changedPrefs.get(), ...change })
}

function keep(name: string, value: string | undefined) {
  const seconds = value === undefined ? 0 : keptSeconds
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is there in secure contexts alone
  document.cookie = `${name}=${value ?? ''}; Path=/; Max-Age=${seconds}; SameSite=Lax`
}
