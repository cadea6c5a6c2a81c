const browsers: [mark: RegExp, name: string][] = [
  [/Edg\//, 'Edge'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const systems: [mark: RegExp, name: string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

/** Returns a readable name for a program, derived from its User-Agent header. */
export function agentName(userAgent: string | null): string {
  if (!userAgent) return 'Unknown program'
  const named = (list: typeof browsers) => list.find(([mark]) => mark.test(userAgent))?.[1]
  const browser = named(browsers)
  if (!browser) return userAgent.slice(0, 60)
  const system = named(systems)
  return system ? `${browser} on ${system}` : browser
}
