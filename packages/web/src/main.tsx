/**
 * The entry point in the browser. It replaces the server-rendered page when the code for the current screen has loaded.
 */
import './theme.css'
import { fetchTransport, openConnection } from '@shoal/protocol/client'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import { type Boot, takeBoot } from './api/boot.ts'
import { pageClient } from './api/page-client.ts'
import { newQueryClient } from './api/query-client.ts'
import { noticeSignOut } from './api/session.ts'
import { readTyped } from './app/keep-typed.ts'
import { noteWait } from './app/waiting.tsx'
import { App } from './app.tsx'
import { readPrefs } from './prefs.ts'
import { newRouter } from './router.tsx'

const queryClient = newQueryClient()
const printed = document.getElementById('boot')?.textContent
if (printed && !cameFromElsewhere()) takeBoot(queryClient, JSON.parse(printed) as Boot)

const transport = noticeSignOut(fetchTransport(), queryClient)
const connection = openConnection({ baseUrl: '', transport, maxWaits: 5, onWait: noteWait })
const router = newRouter({
  connection,
  client: pageClient(connection),
  queryClient,
  prefs: readPrefs(document.cookie, document.documentElement.dataset.daemon),
  registryUrl: document.documentElement.dataset.baseUrl ?? location.origin,
  registryLabel: document.documentElement.dataset.registry,
  head: undefined,
})
await router.load()
const root = document.getElementById('root')
if (!root) throw new Error('the page has no element #root')
const typeAgain = readTyped(root)
flushSync(() => createRoot(root).render(<App router={router} />))
typeAgain()
document.documentElement.dataset.interactive = '' // tests wait for it

/**
 * Whether the visitor followed a link from another site. In that case, the browser did not send the session cookie
 * (`SameSite=Strict`), and the page was rendered for a signed-out visitor.
 */
function cameFromElsewhere(): boolean {
  return document.referrer !== '' && new URL(document.referrer).origin !== location.origin
}
