/** What somebody typed into the printed page before the scripts were here. */
export function readTyped(page: HTMLElement): () => void {
  const typed = [...page.querySelectorAll<HTMLInputElement>('input[name]')]
    .filter(({ value, defaultValue }) => value !== defaultValue)
    .map(({ name, value }) => [name, value] as const)
  const focused = document.activeElement?.getAttribute('name')
  const named = (name: string) =>
    page.querySelector<HTMLInputElement>(`input[name="${CSS.escape(name)}"]`)

  /** To be called when the page was replaced: what was typed is typed again. */
  return () => {
    for (const [name, value] of typed) {
      const input = named(name)
      if (!input) continue
      // The element's own setter, which React watches over.
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, value)
      input.dispatchEvent(new Event('input', { bubbles: true }))
    }
    if (focused) named(focused)?.focus()
  }
}
