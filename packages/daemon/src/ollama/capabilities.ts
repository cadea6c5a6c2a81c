import type { LocalModel } from '../models/local-models.ts'

const thoughtMarks =
  /<\/?think>|\[THINK\]|<seed:think>|<\|channel\|>|enable_thinking|reasoning_effort/

/** Whether the model can reason, according to its chat template. */
export function canThink({ facts }: LocalModel): boolean {
  return thoughtMarks.test(facts.chat_template ?? '')
}

/** llama.cpp's number for the output of a classification head. */
const rankPooling = 4

const ranksDocuments = ({ facts: { architecture, metadata } }: LocalModel): boolean =>
  metadata[`${architecture}.pooling_type`] === rankPooling

/** Some models have a second template, for chats with tools. */
const toolTemplateKey = 'tokenizer.chat_template.tool_use'

/**
 * Lists a model's capabilities in Ollama's terms. Any model can create embeddings; `embedding` is listed only for
 * models that can do nothing else.
 */
export function listCapabilities(model: LocalModel): string[] {
  const { architecture, metadata, chat_template } = model.facts
  if (ranksDocuments(model)) return ['rerank'] // not one of Ollama's terms
  if (`${architecture}.pooling_type` in metadata) return ['embedding']
  return [
    'completion',
    ...(/\btools\b/.test(chat_template ?? '') || toolTemplateKey in metadata ? ['tools'] : []),
    ...(canThink(model) ? ['thinking'] : []),
  ]
}
