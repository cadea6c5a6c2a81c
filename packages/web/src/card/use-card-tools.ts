import { type RefObject, useEffect } from 'react'
import { copyText } from '../ui/copy-text.ts'

const shownMs = 1800

/** Adds a copy button to each code block of a card. The page does this because cards themselves contain no scripts. */
export function useCardTools(card: RefObject<HTMLElement | null>, html: string | undefined) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a different card has different code blocks
  useEffect(() => {
    const frames = [...(card.current?.querySelectorAll('pre') ?? [])].map((code) => {
      const frame = document.createElement('div')
      frame.className = 'card-code'
      code.replaceWith(frame)
      frame.append(code, copyButton(code))
      return { frame, code }
    })
    return () => {
      for (const { frame, code } of frames) frame.replaceWith(code)
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
      () => 'Copy failed',
    )
    setTimeout(() => {
      button.textContent = 'Copy'
    }, shownMs)
  })
  return button
}
