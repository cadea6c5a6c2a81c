import type { Facts } from './catalogue-model.ts'
import type { Choose } from './choose.ts'

const tagsOfUses: Record<string, readonly string[]> = {
  audio: ['audio', 'speech-recognition'],
  code: ['code', 'coding'],
  embedding: ['embedding', 'feature-extraction', 'sentence-similarity'],
  finance: ['finance'],
  legal: ['legal', 'law'],
  medical: ['medical', 'biology'],
  reasoning: ['reasoning', 'thinking'],
  rerank: ['reranker', 'text-ranking'],
  roleplay: ['roleplay', 'rp'],
  sql: ['sql', 'text-to-sql'],
  story: ['storytelling', 'creative-writing'],
  tools: ['function-calling', 'tool-use'],
  translation: ['translation'],
  vision: ['vision', 'image-text-to-text', 'multimodal'],
  arabic: ['arabic', 'ar'],
  chinese: ['chinese', 'zh'],
  dutch: ['dutch', 'nl'],
  french: ['french', 'fr'],
  german: ['german', 'de'],
  hindi: ['hindi', 'hi'],
  italian: ['italian', 'it'],
  japanese: ['japanese', 'ja'],
  korean: ['korean', 'ko'],
  polish: ['polish', 'pl'],
  portuguese: ['portuguese', 'pt'],
  russian: ['russian', 'ru'],
  spanish: ['spanish', 'es'],
  turkish: ['turkish', 'tr'],
  vietnamese: ['vietnamese', 'vi'],
}

const tagsOfVariants: Record<string, readonly string[]> = {
  base: ['text-generation', 'base'],
  chat: ['text-generation', 'conversational', 'chat'],
  instruct: ['text-generation', 'conversational', 'instruct'],
  reasoning: ['text-generation', 'conversational'],
}

/** Returns typical tags of a model. Some publishers set all tags that apply, and others only a few. */
export function tagsFor(facts: Pick<Facts, 'family' | 'uses' | 'variant'>, choose: Choose) {
  const tags = ['gguf', ...(tagsOfVariants[facts.variant] ?? [])]
  if (choose.chance(0.6)) tags.push(facts.family)
  for (const use of facts.uses) {
    const all = tagsOfUses[use] ?? [use]
    tags.push(...all.slice(0, 1 + choose.below(all.length)))
  }
  return [...new Set(tags)]
}
