/** What a visitor has chosen. In cookies, so that a page is printed as they want it; they say nothing about who it is. */

export type Theme = 'light' | 'dark'
export type Prefs = {
  /** Undefined: as the system has it. */
  theme: Theme | undefined
  /** GB of memory of the visitor's machine. */
  memoryGb: number
}

export const memorySizes = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256] as const
const defaultMemoryGb = 16
const keptSeconds = 365 * 86_400

/** `cookies` is what a `Cookie` header, or `document.cookie`, holds. */
export function readPrefs(cookies: string): Prefs {
  const values = new Map(cookies.split(/; */).map((pair) => pair.split('=') as [string, string]))
  const theme = values.get('theme')
  const memoryGb = Number(values.get('memory'))
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : undefined,
    memoryGb: isMemorySize(memoryGb) ? memoryGb : defaultMemoryGb,
  }
}

export const isMemorySize = (value: number): boolean => memorySizes.some((size) => size === value)

export function keepPref(name: 'theme' | 'memory', value: string) {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is there in secure contexts alone
  document.cookie = `${name}=${value}; Path=/; Max-Age=${keptSeconds}; SameSite=Lax`
}
