import type { RenderChat } from './chat-prompt.ts'
import { isTemplateLimit } from './jinja/template-limit.ts'
import { type ChatTemplate, chatRenderer } from './render-chat.ts'
import { renderInThread } from './render-in-thread.ts'

/** Limits that keep the time for rendering in this thread below about 20 ms. */
const limits = { maxSteps: 20_000, maxCharacters: 1024 * 1024 }
/** Limited because the library parses whitespace in quadratic time. */
const maxTemplate = { characters: 64 * 1024, space: /\s{1000}/ }
/** The maximum number of values in a chat. Every 64 characters of text count as one additional value. */
const maxValues = 4000

/**
 * Returns a function that renders a chat in the calling thread if that takes little work, as it usually does. Other
 * chats are rendered by `inThread` in a separate thread, so that they do not delay other requests or exhaust this
 * process's memory. The separate thread uses 20 MB of memory, so it is started only when the first such chat is
 * rendered.
 */
export function renderHere(
  template: ChatTemplate,
  inThread: RenderChat = renderInThread(template),
): RenderChat {
  const { source } = template
  if (source.length > maxTemplate.characters || maxTemplate.space.test(source)) return inThread
  const render = chatRenderer(template, limits)

  return async (chat) => {
    if (!isSmall(chat)) return inThread(chat)
    try {
      return render(chat, new Date())
    } catch (error) {
      if (isTemplateLimit(error)) return inThread(chat)
      throw error
    }
  }
}

/** Whether a JSON value has at most `maxValues` values. */
function isSmall(value: unknown): boolean {
  let left = maxValues
  function visit(one: unknown) {
    left -= typeof one === 'string' ? 1 + one.length / 64 : 1
    if (typeof one !== 'object' || one === null) return
    for (const name in one) {
      if (left < 0) return
      visit(one[name as keyof typeof one])
    }
  }
  visit(value)
  return left >= 0
}
