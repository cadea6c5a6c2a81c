import type { LocalModel } from '../models/local-models.ts'

const thoughtMarks =
  /<\/?think>|\[THINK\]|<seed:think>|<\|channel\|>|enable_thinking|reasoning_effort/

/** Whether the model can reason, according to its chat template. */
export function canThink({ facts }: LocalModel): boolean {
  return thoughtMarks.test(facts.chat_template ?? '')
}

/** Some models have a second template, for chats with tools. */
const toolTemplateKey = 'tokenizer.chat_template.tool_use'

/**
 * Lists a model's capabilities in Ollama's terms. Any model can create embeddings; `embedding` is listed only for
 * models that can do nothing else.
 */
export function listCapabilities(model: LocalModel): string[] {
  const { architecture, metadata, chat_template } = model.facts
  if (`${architecture}.pooling_type` in metadata) return ['embedding']
  return [
    'completion',
    ...(/\btools\b/.test(chat_template ?? '') || toolTemplateKey in metadata ? ['tools'] : []),
    ...(canThink(model) ? ['thinking'] : []),
  ]
}
