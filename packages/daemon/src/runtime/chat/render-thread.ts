/** The thread that `render-in-thread.ts` starts: it renders chats with one template. */
import { serveParent } from '@shoal/threads/parent'
import { type ChatTemplate, type ChatToPrint, chatRenderer } from './render-chat.ts'

export type RenderMethods = {
  /** Returns the prompt. Throws the template's own errors. */
  render(chat: ChatToPrint): string
}

serveParent((template: ChatTemplate): RenderMethods => {
  const render = chatRenderer(template)
  return { render: (chat) => render(chat, new Date()) }
})
