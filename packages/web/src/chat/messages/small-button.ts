/** The CSS classes of the buttons below a message. */
export const smallButton =
  'inline-flex h-8 min-w-8 items-center justify-center gap-1.5 rounded-md text-ink-3 transition-colors hover:bg-sunken hover:text-ink disabled:pointer-events-none disabled:opacity-45'
