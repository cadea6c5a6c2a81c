import type { Printer } from '../terminal/printer.ts'

/** Warns that other machines can reach the registry, but not at its base URL, which has a loopback address. */
export function reportMisaddressed(printer: Printer, url: string) {
  printer.warn(`The base URL is ${url}, which other machines cannot reach.`)
  const { protocol, port } = new URL(url)
  const suffix = port && `:${port}`
  printer.note(`  Set a base URL that they can reach: --base-url ${protocol}//<hostname>${suffix}`)
}
