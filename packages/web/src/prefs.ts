/**
 * The visitor's preferences. They do not identify the visitor, and are stored in cookies, so that the server can apply
 * them.
 */

import { observable } from './observable.ts'

export type Theme = 'light' | 'dark'
export type Prefs = {
  /** The chosen theme; undefined if the page matches the system theme. */
  theme: Theme | undefined
  /** The memory of the visitor's machine, in GB. */
  memoryGb: number
  /** The context length for which memory is estimated, in tokens. */
  contextTokens: number
  /** The origin of the visitor's daemon; undefined if the registry has reported that no daemon is running. */
  daemon: string | undefined
  /** Whether the key `/` focuses the search box. */
  hasSlashKey: boolean
}

export const memorySizes = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256] as const
export const contextSizes = [4096, 8192, 16_384, 32_768, 65_536, 131_072] as const
/**
 * The same value as `usualContext` in the package model-file, which is not imported here, so that only model pages load
 * it.
 */
export const usualContextTokens = 8192
export const usualDaemon = 'http://localhost:11434'
const usualMemoryGb = 16
const keptSeconds = 365 * 86_400

/**
 * The origin of the daemon on the registry's machine, which the registry sends only to visitors on that machine. It is
 * empty if no daemon is running there, and undefined for other visitors.
 */
export type ToldDaemon = string | undefined

/**
 * Returns the daemon's origin for a visitor who has not set one; undefined if the registry reported that no daemon is
 * running.
 */
export const expectedDaemon = (reported: ToldDaemon): string | undefined =>
  (reported ?? usualDaemon) || undefined

/** Reads the visitor's preferences. `cookies` is the value of a `Cookie` header or of `document.cookie`. */
export function readPrefs(cookies: string, reported?: ToldDaemon): Prefs {
  const values = new Map(cookies.split(/; */).map((pair) => pair.split('=') as [string, string]))
  const theme = values.get('theme')
  const memoryGb = Number(values.get('memory'))
  const contextTokens = contextSizes.find((size) => size === Number(values.get('context')))
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : undefined,
    memoryGb: isMemorySize(memoryGb) ? memoryGb : usualMemoryGb,
    contextTokens: contextTokens ?? usualContextTokens,
    daemon: originFrom(values.get('daemon') ?? '') ?? expectedDaemon(reported),
    hasSlashKey: values.get('slash') !== 'off',
  }
}

export const isMemorySize = (value: number): boolean => memorySizes.some((size) => size === value)

/**
 * Returns the origin of a web address, such as `http://gpu:11434` for `gpu:11434/v1`. A missing scheme means `http`.
 * Returns undefined if the text is not a web address.
 */
export function originFrom(text: string): string | undefined {
  const address = /^https?:\/\//i.test(text) ? text : `http://${text}`
  if (text === '' || !URL.canParse(address)) return undefined
  const { origin, hostname } = new URL(address)
  return /^[\w.:[\]-]+$/.test(hostname) ? origin : undefined
}

/** Preferences changed since the page was loaded. */
export const changedPrefs = observable<Partial<Prefs>>({})

/** Saves changed preferences, and applies them to the current page. */
export function changePrefs(change: Partial<Prefs>) {
  const { theme, memoryGb, contextTokens, daemon, hasSlashKey } = change
  if ('theme' in change) {
    keep('theme', theme)
    if (theme) document.documentElement.dataset.theme = theme
    else delete document.documentElement.dataset.theme
  }
  if (memoryGb !== undefined) keep('memory', String(memoryGb))
  if (contextTokens !== undefined) keep('context', String(contextTokens))
  if (daemon !== undefined) {
    const expected = expectedDaemon(document.documentElement.dataset.daemon)
    keep('daemon', daemon === expected ? undefined : daemon)
  }
  if (hasSlashKey !== undefined) keep('slash', hasSlashKey ? undefined : 'off')
  changedPrefs.set({ ...changedPrefs.get(), ...change })
}

function keep(name: string, value: string | undefined) {
  const seconds = value === undefined ? 0 : keptSeconds
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API exists only in secure contexts
  document.cookie = `${name}=${value ?? ''}; Path=/; Max-Age=${seconds}; SameSite=Lax`
}
