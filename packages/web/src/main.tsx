/** Where a browser begins. The page is printed already; what was printed is replaced once its screen is here. */
import './theme.css'
import { registryClient } from '@shoal/protocol/client'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import { type Boot, takeBoot } from './api/boot.ts'
import { newQueryClient } from './api/query-client.ts'
import { readTyped } from './app/keep-typed.ts'
import { noteWait } from './app/waiting.tsx'
import { App } from './app.tsx'
import { readPrefs } from './prefs.ts'
import { newRouter } from './router.tsx'

const queryClient = newQueryClient()
const printed = document.getElementById('boot')?.textContent
if (printed && !cameFromElsewhere()) takeBoot(queryClient, JSON.parse(printed) as Boot)

const router = newRouter({
  client: registryClient({ baseUrl: '', onWait: noteWait }),
  queryClient,
  prefs: readPrefs(document.cookie, document.documentElement.dataset.daemon),
  head: undefined,
})
await router.load()
const root = document.getElementById('root')
if (!root) throw new Error('the page has no place for the application')
const typeAgain = readTyped(root)
flushSync(() => createRoot(root).render(<App router={router} />))
typeAgain()

/** With a link from another site no cookie came along: the page was printed for a stranger, and this may be somebody. */
function cameFromElsewhere(): boolean {
  return document.referrer !== '' && new URL(document.referrer).origin !== location.origin
}
