import { randomUUID } from 'node:crypto'
import { controlCharacters } from '@shoal/core/text'

export type Colors = ReturnType<typeof createColors>

/**
 * Begins the marks of a style, until the text is printed. Text from elsewhere cannot contain it, because it is random.
 */
const mark = `\x1b${randomUUID()}`

/** Returns functions that mark text with a style. `toTerminal` turns the marks into escape sequences. */
export function createColors(isEnabled: boolean) {
  const style = (open: string, close: string) => (text: string) =>
    isEnabled ? `${mark}[${open}m${text}${mark}[${close}m` : text
  return {
    isEnabled,
    bold: style('1', '22'),
    dim: style('2', '22'),
    red: style('31', '39'),
    green: style('32', '39'),
    yellow: style('33', '39'),
    /**
     * The orange of progress bars and of the best fit: of the 256 terminal colors, the one closest to the orange of the
     * web pages.
     */
    roe: style('38;5;209', '39'),
  }
}

const styleOrControl = new RegExp(`${mark}(\\[[\\d;]+m)|${controlCharacters.source}`, 'gu')

/** Returns text as it is written to a terminal: with its styles, but without any other control characters. */
export const toTerminal = (text: string): string =>
  text.replace(styleOrControl, (_, style?: string) => (style === undefined ? '' : `\x1b${style}`))
