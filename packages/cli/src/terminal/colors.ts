import picocolors from 'picocolors'

export type Colors = ReturnType<typeof createColors>

/**
 * The orange for progress bars and for the best fit. Of the 256 terminal colors, it is the closest to the orange of the
 * web pages.
 */
const roeOpen = '\x1b[38;5;209m'
const foregroundClose = '\x1b[39m'

export function createColors(isEnabled: boolean) {
  const { bold, dim, green, red, yellow } = picocolors.createColors(isEnabled)
  const roe = (text: string) => (isEnabled ? roeOpen + text + foregroundClose : text)
  return { isEnabled, bold, dim, green, red, yellow, roe }
}
