import type { Printer } from '../terminal/printer.ts'

/** For a registry that listens for other machines without knowing its own address. */
export function reportMisaddressed(printer: Printer, url: string) {
  printer.warn(`Other machines are sent to ${url}, which is themselves.`)
  printer.note('  Say where they find this one: --base-url http://its-name:8000')
}
