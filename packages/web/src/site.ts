/** Finds the built pages, which the registry and the daemon serve. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPrefs } from './prefs.ts'
import type { PrintedPage, printPage } from './print.tsx'

export type { PrintedPage }

export type Site = {
  /** The folder of static files. Files under `assets` never change. */
  directory: string
  /**
   * The HTML template of the registry's pages, with the placeholders `<!--head-->`, `<!--page-->` and `<!--boot-->`.
   */
  frame: string
  printPage: typeof printPage
}

const built = join(import.meta.dirname, '../dist')

/** Returns the registry's pages; undefined if they have not been built. */
export async function findSite(): Promise<Site | undefined> {
  const directory = join(built, 'client')
  const printer = join(built, 'server/print.js')
  if (!existsSync(join(directory, 'index.html')) || !existsSync(printer)) return undefined
  const frame = readFileSync(join(directory, 'index.html'), 'utf8')
  const { printPage } = (await import(printer)) as Pick<Site, 'printPage'>
  return { directory, frame, printPage }
}

export type ChatSite = {
  /** The same folder as in `Site`. */
  directory: string
  /**
   * Returns the chat page in the theme from the `Cookie` header. The page cannot set the theme itself, because the
   * content security policy forbids inline scripts. `registryLabel` is the name that commands use for the daemon's
   * registry (`findRegistryLabel`).
   */
  page(cookies: string, registryLabel: string | undefined): string
}

/** Returns the daemon's chat page; undefined if it has not been built. */
export function findChatSite(): ChatSite | undefined {
  const directory = join(built, 'client')
  const path = join(directory, 'chat.html')
  if (!existsSync(path)) return undefined
  const frame = readFileSync(path, 'utf8')
  return {
    directory,
    page(cookies, registryLabel) {
      const { theme } = readPrefs(cookies)
      const data = [
        ...(theme ? [` data-theme="${theme}"`] : []),
        ...(registryLabel ? [` data-registry="${escapeQuotes(registryLabel)}"`] : []),
      ]
      return frame.replace('<html', () => `<html${data.join('')}`)
    },
  }
}

const escapeQuotes = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
