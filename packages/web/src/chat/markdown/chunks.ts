/**
 * Cuts Markdown where nothing before can change any more: at blank lines, save inside fences and lists. While an answer comes in
 * its last chunk alone has to be read again.
 */
export function chunksOf(source: string): string[] {
  const chunks: string[] = []
  let lines: string[] = []
  let fence: string | undefined
  let isInList = false
  const cut = () => {
    if (lines.some((line) => line !== '')) chunks.push(lines.join('\n'))
    lines = []
    isInList = false
  }

  for (const line of source.split('\n')) {
    const isAfterBlank = lines.at(-1) === ''
    const goesOn = isInList && (isListItem(line) || /^\s/.test(line) || line.trim() === '')
    if (fence === undefined && isAfterBlank && !goesOn) cut()
    if (lines.length === 0) isInList = isListItem(line)
    fence = fenceAfter(line, fence)
    lines.push(line.trim() === '' && fence === undefined ? '' : line)
  }
  cut()
  return chunks
}

const isListItem = (line: string) => /^ {0,3}([-*+]|\d{1,9}[.)])(\s|$)/.test(line)

/** The fence that is open after this line, if any. */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  const mark = /^\s*(`{3,}|~{3,})(.*)$/.exec(line)
  if (!mark) return open
  const [, fence = '', rest = ''] = mark
  if (open === undefined) return fence.startsWith('`') && rest.includes('`') ? undefined : fence
  const closes = fence[0] === open[0] && fence.length >= open.length && rest.trim() === ''
  return closes ? undefined : open
}
