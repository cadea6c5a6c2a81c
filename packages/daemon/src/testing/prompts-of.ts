import { type ChatPrompts, chatPrompts } from '../runtime/chat/chat-prompt.ts'
import { chatRenderer } from '../runtime/chat/render-chat.ts'

/**
 * Returns the `ChatPrompts` of a template, which is rendered in this thread. `now` is the time that the template can
 * print.
 */
export function promptsOf(
  source: string,
  { bos = '', eos = '', now }: { bos?: string; eos?: string; now?: Date } = {},
): Promise<ChatPrompts> {
  const render = chatRenderer({ source, bos, eos })
  return chatPrompts(source, async (chat) => render(chat, now ?? new Date()))
}
