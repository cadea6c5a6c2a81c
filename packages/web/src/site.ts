/** What the build has made, for the servers that send it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PrintedPage, printPage } from './print.tsx'

export type { PrintedPage }

export type Site = {
  /** Files to be sent as they are; those under `assets` never change. */
  directory: string
  /** The frame of the registry's pages, with `<!--head-->`, `<!--page-->` and `<!--boot-->`. */
  frame: string
  printPage: typeof printPage
}

const built = join(import.meta.dirname, '../dist')

/** Undefined where `npm run build` has not been run. */
export async function findSite(): Promise<Site | undefined> {
  const directory = join(built, 'client')
  const printer = join(built, 'server/print.js')
  if (!existsSync(join(directory, 'index.html')) || !existsSync(printer)) return undefined
  const frame = readFileSync(join(directory, 'index.html'), 'utf8')
  const { printPage } = (await import(printer)) as Pick<Site, 'printPage'>
  return { directory, frame, printPage }
}
