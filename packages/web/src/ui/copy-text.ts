/**
 * Copies text to the clipboard. This also works on plain HTTP pages, where the Clipboard API is unavailable because it
 * requires a secure context.
 */
export async function copyText(text: string): Promise<void> {
  if (window.isSecureContext && navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.className = 'sr-only'
  document.body.append(area)
  const focused = document.activeElement
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  if (!isCopied) throw new Error('the browser does not let this page use the clipboard')
}
