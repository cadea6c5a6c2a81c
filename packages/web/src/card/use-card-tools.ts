import { type RefObject, useEffect } from 'react'
import { copyText } from '../ui/copy-text.ts'

const shownMs = 1800

/** Gives each block of code a button that copies it: the card itself comes without scripts. */
export function useCardTools(card: RefObject<HTMLElement | null>, html: string | undefined) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another card has other code
  useEffect(() => {
    const buttons = [...(card.current?.querySelectorAll('pre') ?? [])].map((code) => {
      const button = copyButton(code)
      code.before(button)
      return button
    })
    return () => {
      for (const button of buttons) button.remove()
    }
  }, [card, html])
}

function copyButton(code: HTMLElement): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'card-copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    button.textContent = await copyText(code.innerText).then(
      () => 'Copied',
      () => 'Could not copy',
    )
    setTimeout(() => {
      button.textContent = 'Copy'
    }, shownMs)
  })
  return button
}
