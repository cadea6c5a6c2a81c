/** The build output, for the servers that serve it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPrefs } from './prefs.ts'
import type { PrintedPage, printPage } from './print.tsx'

export type { PrintedPage }

export type Site = {
  /** The folder of static files. Those under `assets` never change. */
  directory: string
  /** The frame of the registry's pages, with `<!--head-->`, `<!--page-->` and `<!--boot-->`. */
  frame: string
  printPage: typeof printPage
}

const built = join(import.meta.dirname, '../dist')

/** Returns undefined before `npm run build`. */
export async function findSite(): Promise<Site | undefined> {
  const directory = join(built, 'client')
  const printer = join(built, 'server/print.js')
  if (!existsSync(join(directory, 'index.html')) || !existsSync(printer)) return undefined
  const frame = readFileSync(join(directory, 'index.html'), 'utf8')
  const { printPage } = (await import(printer)) as Pick<Site, 'printPage'>
  return { directory, frame, printPage }
}

export type ChatSite = {
  /** The same as in `Site`. */
  directory: string
  /** The chat page in the theme of the `Cookie` header. An inline script that sets it is not allowed by the content security policy. */
  page(cookies: string): string
}

/** Returns undefined before `npm run build`. */
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
