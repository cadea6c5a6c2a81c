/** The table of allowed arrows, as `arrows.txt` has it: a row names a folder and the folders that it may import from. */
export type Table = {
  allowed: Set<string>
  /** Allowed although they lead up, and make a circle: known, and to go. */
  up: Set<string>
}

export const arrow = (from: string, to: string) => `${from} → ${to}`

/** Throws for a row that it cannot read, and for an arrow that stands twice. */
export function readTable(text: string): Table {
  const allowed = new Set<string>()
  const up = new Set<string>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const row = /^(up: )?(\S+(?: tests)?) → (\S.*)$/.exec(line)
    if (!row?.[2] || !row[3]) throw new Error(`arrows.txt: cannot read "${line}"`)
    const from = row[2]
    const [room] = from.split('/')
    for (const named of row[3].split(' ')) {
      const one = arrow(from, from.includes('/') ? `${room}/${named}` : named)
      if (allowed.has(one)) throw new Error(`arrows.txt: ${one} stands twice`)
      allowed.add(one)
      if (row[1]) up.add(one)
    }
  }
  return { allowed, up }
}
