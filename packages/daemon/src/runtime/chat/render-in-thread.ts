import { limitedThread, ThreadLimitError } from '@shoal/threads'
import type { RenderChat } from './chat-prompt.ts'
import { templateLimitError } from './jinja/template-limit.ts'
import type { ChatTemplate, ChatToPrint } from './render-chat.ts'

/** Limits far above what the largest chats need. */
const defaultLimits = { maxCpuMs: 10_000, maxHeapMb: 512 }

/**
 * Renders chats in a thread, one after another. Templates are untrusted: they may run forever or exhaust the memory. If
 * rendering a chat exceeds a limit, only that request fails.
 */
export function renderInThread(template: ChatTemplate, limits = defaultLimits): RenderChat {
  const place = { name: 'render-thread', parentUrl: import.meta.url, setup: template }
  const render = limitedThread<ChatToPrint, string>(place, 'render', limits)
  return (chat) =>
    render(chat).catch((error) => {
      throw error instanceof ThreadLimitError ? templateLimitError(`it ${error.message}`) : error
    })
}
