import type { LocalModel } from '../models/local-models.ts'

const thoughtMarks =
  /<\/?think>|\[THINK\]|<seed:think>|<\|channel\|>|enable_thinking|reasoning_effort/

/** Told from what its chat template says. */
export function canThink({ facts }: LocalModel): boolean {
  return thoughtMarks.test(facts.chat_template ?? '')
}

/** What a model is good for, in Ollama's words. Any model embeds; the word stands for those that can do nothing else. */
export function listCapabilities(model: LocalModel): string[] {
  const { architecture, metadata, chat_template } = model.facts
  if (`${architecture}.pooling_type` in metadata) return ['embedding']
  return [
    'completion',
    ...(/\btools\b/.test(chat_template ?? '') ? ['tools'] : []),
    ...(canThink(model) ? ['thinking'] : []),
  ]
}
