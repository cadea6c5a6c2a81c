/** The thread that `render-in-thread.ts` starts: it renders chats with one template. */
import { serveParent } from '@shoal/threads/parent'
import { type ChatTemplate, type ChatToPrint, chatRenderer } from './render-chat.ts'

serveParent((template: ChatTemplate) => {
  const render = chatRenderer(template)
  /** Returns the prompt. Throws the template's own errors. */
  return { render: (chat: ChatToPrint): string => render(chat, new Date()) }
})
