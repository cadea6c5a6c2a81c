/** The chat page, served by the daemon. */
import '../theme.css'
import './chat.css'
import { fetchInference, inferenceClient } from '@shoal/protocol/inference-client'
import { createRoot } from 'react-dom/client'
import { ChatApp } from './chat-app.tsx'
import { openHistory } from './history/history.ts'
import { createChat } from './state/chat.ts'

const keyName = 'shoal-api-key'

const chat = createChat({
  daemon: inferenceClient(
    fetchInference(location.origin),
    // The key is stored only for this tab, until the tab is closed.
    () => sessionStorage.getItem(keyName) ?? undefined,
  ),
  keepKey: (key) => sessionStorage.setItem(keyName, key),
  openHistory,
  address: {
    read: () => /^#(chat-[\d-]+)$/.exec(location.hash)?.[1] ?? '',
    write: (id) => history.replaceState(null, '', id ? `#${id}` : location.pathname),
  },
})

addEventListener('popstate', () => void chat.follow())
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void chat.refreshModels()
})

const root = document.getElementById('root')
if (!root) throw new Error('the page has no element #root')
createRoot(root).render(<ChatApp chat={chat} />)
void chat.start()
