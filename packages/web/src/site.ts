/** The build output, for the servers that serve it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPrefs } from './prefs.ts'
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

export type ChatSite = {
  /** As a `Site` has it. */
  directory: string
  /** The chat page in the theme that the `Cookie` header asks for: its policy allows no script that could do so in time. */
  page(cookies: string): string
}

/** Undefined where `npm run build` has not been run. */
export function findChatSite(): ChatSite | undefined {
  const directory = join(built, 'client')
  const path = join(directory, 'chat.html')
  if (!existsSync(path)) return undefined
  const frame = readFileSync(path, 'utf8')
  return {
    directory,
    page(cookies) {
      const { theme } = readPrefs(cookies)
      return theme ? frame.replace('<html', `<html data-theme="${theme}"`) : frame
    },
  }
}
