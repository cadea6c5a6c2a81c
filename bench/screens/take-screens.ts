/**
 * Takes screenshots of every page of a registry with made-up models, and of the chat pages of daemons, in each theme
 * and width: `npm run screens [-- FOLDER [NAME…]]`. A name selects all screens whose names begin with it. People review
 * the screenshots, because they notice problems that tests do not.
 */
import { mkdir } from 'node:fs/promises'
import { startBrowser } from '../../testing/browser.ts'
import { findChromium } from '../../testing/programs.ts'
import { accountScreens } from './account-screens.ts'
import { adminScreens } from './admin-screens.ts'
import { chatScreens } from './chat-screens.ts'
import { failureScreens } from './failure-screens.ts'
import { publishScreens } from './publish-screens.ts'
import { registryScreens } from './registry-screens.ts'
import { takeScreen } from './screen.ts'
import { startShownDaemons } from './shown/daemons.ts'
import { startEmptyRegistry, startShownRegistry } from './shown/registry.ts'
import { writeUploads } from './shown/uploads.ts'

const [folder = 'screens', ...names] = process.argv.slice(2)
const program = findChromium()
if (!program) throw new Error('Chromium was not found in the PATH: install it and try again')
await mkdir(folder, { recursive: true })

await using registry = await startShownRegistry()
await using empty = await startEmptyRegistry()
await using daemons = await startShownDaemons()
using uploads = await writeUploads()
const screens = [
  ...registryScreens(registry),
  ...accountScreens(registry),
  ...adminScreens(registry),
  ...publishScreens(registry, uploads),
  ...failureScreens(registry, empty),
  ...chatScreens(daemons),
]
await using browser = await startBrowser(program, [])
for (const screen of screens) {
  const isWanted = names.length === 0 || names.some((name) => screen.name.startsWith(name))
  if (isWanted) await takeScreen(browser, screen, folder)
}
