/**
 * Pictures of every page, light and dark, wide and narrow, of a registry with made-up models: `npm run screens [-- FOLDER]`. To be
 * looked at by people, who see what no test does.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { registryClient } from '@shoal/protocol/client'
import { readRegistryConfig, startRegistry } from '@shoal/registry'
import { findChromium, startBrowser, type Visitor } from '../../testing/browser.ts'
import { fill } from '../harness/filled-registry.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'

const models = 200
const [folder = 'screens'] = process.argv.slice(2)
const person = { username: 'ines', password: 'open sesame' }

type Screen = {
  name: string
  path: string
  isSignedIn?: boolean
  act?: (visitor: Visitor) => Promise<unknown>
}

const screensOf = (model: string): Screen[] => [
  { name: 'models', path: '/' },
  { name: 'models-search', path: '/?q=instruct&fits=16' },
  { name: 'models-none', path: '/?q=zzzzzz' },
  { name: 'model', path: `/m/${model}` },
  { name: 'model-files', path: `/m/${model}?tab=files` },
  { name: 'model-metadata', path: `/m/${model}?tab=metadata` },
  { name: 'model-unknown', path: '/m/lama' },
  { name: 'nothing', path: '/nowhere' },
  { name: 'owner', path: '/u/ines' },
  { name: 'login', path: '/login' },
  { name: 'register', path: '/register' },
  { name: 'publish', path: '/publish', isSignedIn: true },
  { name: 'settings-profile', path: '/settings', isSignedIn: true },
  { name: 'settings-keys', path: '/settings/keys', isSignedIn: true },
  {
    name: 'settings-new-key',
    path: '/settings/keys',
    isSignedIn: true,
    act: ({ page }) => page.getByRole('button', { name: 'New key' }).click(),
  },
  { name: 'settings-sessions', path: '/settings/sessions', isSignedIn: true },
  { name: 'settings-machine', path: '/settings/machine' },
  { name: 'settings-sharing', path: '/settings/sharing' },
]

const program = findChromium()
if (!program) throw new Error('there is no chromium in the PATH')
await mkdir(folder, { recursive: true })
using data = temporaryFolder()
await fill({ dataDirectory: data.path, databaseUrl: undefined, models })
const config = readRegistryConfig({}, { port: '0', data: data.path })
const registry = await startRegistry({ ...config, rateLimits: undefined, log: 'silent' })
const origin = registry.url
const stranger = registryClient({ baseUrl: origin })
const { access_token: token } = await stranger.register(person)
const client = registryClient({ baseUrl: origin, token })
await client.createApiKey({ name: 'laptop' })
await client.createModel({
  name: 'tide-7b',
  display_name: 'Tide 7B',
  description: 'Nothing in it yet.',
})
const { models: found } = await stranger.listModels({ limit: 1, q: 'instruct' })

try {
  await using browser = await startBrowser(program, [origin])
  for (const screen of screensOf(found[0]?.name ?? '')) {
    for (const theme of ['light', 'dark'] as const) {
      for (const width of [1360, 390]) {
        await using visitor = await browser.newVisitor({ theme, width })
        await take(visitor, screen, `${screen.name}-${theme}-${width}.png`)
      }
    }
  }
} finally {
  await registry.close()
}

async function take(visitor: Visitor, { path, isSignedIn, act }: Screen, filename: string) {
  const { context, page } = visitor
  if (isSignedIn) {
    await context.request.post(`${origin}/v1/auth/login`, { data: person, headers: { origin } })
  }
  await page.goto(origin + path, { waitUntil: 'networkidle' })
  await act?.(visitor)
  await page.screenshot({ path: join(folder, filename), animations: 'disabled' })
  process.stdout.write(`${join(folder, filename)}\n`)
}
