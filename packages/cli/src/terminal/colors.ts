import picocolors from 'picocolors'

export type Colors = ReturnType<typeof createColors>

/**
 * The orange of progress bars and of the best fit: of the 256 terminal colors, the one closest to the orange of the web
 * pages.
 */
const roeOpen = '\x1b[38;5;209m'
const foregroundClose = '\x1b[39m'

export function createColors(isEnabled: boolean) {
  const { bold, dim, green, red, yellow } = picocolors.createColors(isEnabled)
  const roe = (text: string) => (isEnabled ? roeOpen + text + foregroundClose : text)
  return { isEnabled, bold, dim, green, red, yellow, roe }
}
