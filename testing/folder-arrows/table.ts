/** The allowed arrows, from `arrows.txt`. Each row lists a folder and the folders from which it may import. */
export type Table = ReadonlySet<string>

export const arrow = (from: string, to: string) => `${from} → ${to}`

/**
 * Parses the text of `arrows.txt`.
 * @throws if a row is invalid or an arrow is listed twice
 */
export function readTable(text: string): Table {
  const allowed = new Set<string>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, from, below] = /^(\S+(?: tests)?) → (\S.*)$/.exec(line) ?? []
    if (!from || !below) throw new Error(`arrows.txt: cannot read "${line}"`)
    const [room] = from.split('/')
    for (const named of below.split(' ')) {
      const one = arrow(from, from.includes('/') ? `${room}/${named}` : named)
      if (allowed.has(one)) throw new Error(`arrows.txt: ${one} is listed twice`)
      allowed.add(one)
    }
  }
  return allowed
}
