import type { Printer } from '../terminal/printer.ts'

/** For a registry that other machines can reach, but whose base URL is on loopback. */
export function reportMisaddressed(printer: Printer, url: string) {
  printer.warn(`The base URL is ${url}, which other machines cannot reach.`)
  printer.note('  Set an address that they can reach: --base-url http://<hostname>:8000')
}
