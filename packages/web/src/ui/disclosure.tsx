import { type ReactNode, type ToggleEvent, useId, useRef, useState } from 'react'

type Props = { label: string; icon: ReactNode; className?: string; children: ReactNode }

const gap = 6

/**
 * A button that opens a small panel of buttons and links. The panel is a popover, which the browser closes on Esc and
 * on a click outside.
 */
export function Disclosure({ label, icon, className = 'ctl', children }: Props) {
  const id = useId()
  const panel = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)

  function onToggle({ newState }: ToggleEvent) {
    setOpen(newState === 'open')
    if (!panel.current || !button.current) return
    panel.current.style.visibility = newState === 'open' ? 'visible' : ''
    if (newState !== 'open') return
    place(panel.current, button.current.getBoundingClientRect())
    panel.current.querySelector<HTMLElement>('button, a')?.focus()
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={id}
        popoverTarget={id}
      >
        {icon}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the click comes from a button inside */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys also come from a button inside */}
      <div
        ref={panel}
        id={id}
        popover="auto"
        className="pop [@media(scripting:enabled)]:invisible" // until the panel is positioned
        onToggle={onToggle}
        onClick={() => panel.current?.hidePopover()}
      >
        {children}
      </div>
    </>
  )
}

/** Places the panel below the button if there is enough space; otherwise, above it. */
function place(panel: HTMLElement, button: DOMRect) {
  const { offsetWidth, offsetHeight } = panel
  const isRoomBelow = button.bottom + offsetHeight + 2 * gap <= innerHeight
  panel.style.left = `${Math.max(8, button.right - offsetWidth)}px`
  panel.style.top = `${isRoomBelow ? button.bottom + gap : button.top - offsetHeight - gap}px`
}
