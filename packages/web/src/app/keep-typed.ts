/**
 * Reads what the visitor typed into the server-rendered page before the scripts had loaded. Returns a function that
 * enters the text again and restores the focus. Call that function after the page has been replaced.
 */
export function readTyped(page: HTMLElement): () => void {
  const typed = [...page.querySelectorAll<HTMLInputElement>('input[name]')]
    .filter(({ value, defaultValue }) => value !== defaultValue)
    .map(({ name, value }) => [name, value] as const)
  const focused = document.activeElement?.getAttribute('name')
  const named = (name: string) =>
    page.querySelector<HTMLInputElement>(`input[name="${CSS.escape(name)}"]`)

  return () => {
    for (const [name, value] of typed) {
      const input = named(name)
      if (!input) continue
      // Call the native setter, because React intercepts assignments to `value`.
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, value)
      input.dispatchEvent(new Event('input', { bubbles: true }))
    }
    if (focused) named(focused)?.focus()
  }
}
