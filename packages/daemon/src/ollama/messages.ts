import type { OllamaChatRequest, OllamaMessage } from '@shoal/protocol'
import { type MediaSettings, mediaReaders } from '../http/media.ts'
import {
  type ChatMessage,
  makeCall,
  makeTool,
  type Tool,
  type ToolCall,
} from '../runtime/runtime.ts'

/** Converts Ollama's messages to OpenAI's format, for which chat templates are written. */
export function toChatMessages(messages: OllamaMessage[], media: MediaSettings): ChatMessage[] {
  const unanswered: ToolCall[] = []
  const readers = mediaReaders(
    messages.map(({ role }) => role),
    media,
  )
  return messages.map((message, index) => {
    const { role, content, thinking, tool_calls } = message
    const images = (message.images ?? []).map((data) =>
      readers(index)({ type: 'image', source: { data } }, `messages.${index}.images`),
    )
    const calls = (tool_calls ?? []).map((call, place) =>
      makeCall(call.id || `call_${index}_${place}`, call.function.name, call.function.arguments),
    )
    unanswered.push(...calls)
    return {
      role,
      content: (content ?? '') + images.join(''),
      ...(thinking && { reasoning_content: thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(role === 'tool' && answeredCall(message, unanswered)),
    }
  })
}

export function toTools({ tools }: OllamaChatRequest): Tool[] {
  return (tools ?? []).map(({ function: { name, description, parameters } }) =>
    makeTool({ name, description, parameters }),
  )
}

/** The name and ID of the call that a message answers. Ollama clients seldom specify them, but templates need them. */
function answeredCall({ tool_name, tool_call_id }: OllamaMessage, unanswered: ToolCall[]) {
  const place = unanswered.findIndex((call) =>
    tool_call_id ? call.id === tool_call_id : !tool_name || call.function.name === tool_name,
  )
  const [call] = place === -1 ? [] : unanswered.splice(place, 1)
  const name = tool_name || call?.function.name
  const id = tool_call_id || call?.id
  return { ...(name && { name }), ...(id && { tool_call_id: id }) }
}
