import type { LineReader, Typed } from '../terminal/line-reader.ts'

const fence = '"""'

/** Reads a message: one line, or several lines enclosed in `"""`. */
export async function readMessage(reader: LineReader): Promise<Typed> {
  const first = await reader.next('> ')
  if (first.type !== 'line' || !first.text.trimStart().startsWith(fence)) return first
  const opening = first.text.trimStart().slice(fence.length)
  if (opening.trimEnd().endsWith(fence)) return joinLines([opening])
  const lines = [opening]
  for (;;) {
    const typed = await reader.next('… ')
    if (typed.type === 'interrupt') return { ...typed, hadText: true }
    if (typed.type === 'end') return typed
    lines.push(typed.text)
    if (typed.text.trimEnd().endsWith(fence)) return joinLines(lines)
  }
}

function joinLines(lines: readonly string[]): Typed {
  const text = lines.join('\n').trimEnd().slice(0, -fence.length)
  return { type: 'line', text: text.replace(/^\n|\n$/g, '') }
}
