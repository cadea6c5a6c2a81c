/** The chat page, served by the daemon. */
import '../theme.css'
import './chat.css'
import { fetchInference, inferenceClient } from '@shoal/protocol/inference-client'
import { createRoot } from 'react-dom/client'
import { ChatApp } from './chat-app.tsx'
import { openHistory } from './history/history.ts'
import { createModelStore } from './models/model-store.ts'
import { watchRunLink } from './run/run-link.ts'
import { createChat } from './state/chat.ts'

const keyName = 'shoal-api-key'

const daemon = inferenceClient(
  fetchInference(location.origin),
  // The key is stored only for this tab, until the tab is closed.
  () => sessionStorage.getItem(keyName) ?? undefined,
)
const runLink = watchRunLink()
const chat = createChat({
  daemon,
  keepKey: (key) => sessionStorage.setItem(keyName, key),
  openHistory,
  address: {
    read: () => /^#(chat-[\d-]+)$/.exec(location.hash)?.[1] ?? '',
    write: (id) => history.replaceState(null, '', id ? `#${id}` : location.pathname),
  },
})

const store = createModelStore(daemon, chat.refreshModels)

addEventListener('popstate', () => {
  if (!runLink.follow()) void chat.follow()
})
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void chat.refreshModels()
})

const root = document.getElementById('root')
if (!root) throw new Error('the page has no element #root')
createRoot(root).render(<ChatApp chat={chat} store={store} runLink={runLink} />)
void chat.start()
