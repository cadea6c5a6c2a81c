/** The allowed arrows, as `arrows.txt` has them: a row names a folder and the folders that it may import from. */
export type Table = ReadonlySet<string>

export const arrow = (from: string, to: string) => `${from} → ${to}`

/** Throws for a row that it cannot read, and for an arrow that stands twice. */
export function readTable(text: string): Table {
  const allowed = new Set<string>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, from, below] = /^(\S+(?: tests)?) → (\S.*)$/.exec(line) ?? []
    if (!from || !below) throw new Error(`arrows.txt: cannot read "${line}"`)
    const [room] = from.split('/')
    for (const named of below.split(' ')) {
      const one = arrow(from, from.includes('/') ? `${room}/${named}` : named)
      if (allowed.has(one)) throw new Error(`arrows.txt: ${one} stands twice`)
      allowed.add(one)
    }
  }
  return allowed
}
