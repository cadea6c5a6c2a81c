/** Compares our rendering of conversations with llama.cpp's, for each chat template. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promptsOf } from '../packages/daemon/src/testing/prompts-of.ts'
import type { Conversation } from './conversations.ts'
import { listRenderings, now, templateFolder } from './list-renderings.ts'
import type { LlamaReference } from './llama-reference.ts'
import { findPolicy } from './policies.ts'

export type RenderingResult = {
  template: string
  conversation: string
  /** `equal` includes intended differences (`policies.ts`). `none`: llama.cpp cannot render the conversation. */
  outcome: 'equal' | 'different' | 'failed' | 'none'
  detail: string
}

export async function scoreRenderings(reference: LlamaReference): Promise<RenderingResult[]> {
  const renderings = listRenderings(reference.path)
  const expected = (await reference.read('renderings')) as Expected[]
  if (expected.length !== renderings.length)
    throw new Error('llama.cpp did not render all conversations')
  const results: RenderingResult[] = []
  for (const [index, { template, conversation }] of renderings.entries()) {
    const source = readFileSync(join(reference.path, templateFolder, template), 'utf8')
    const outcome = await compare({ template, source, conversation }, expected[index] ?? {})
    results.push({ template, conversation: conversation.name, ...outcome })
  }
  return results
}

type Expected = { prompt?: string; error?: string }
type Input = { template: string; source: string; conversation: Conversation }

async function compare(
  input: Input,
  { prompt }: Expected,
): Promise<Pick<RenderingResult, 'outcome' | 'detail'>> {
  if (prompt === undefined) return { outcome: 'none', detail: '' }
  try {
    const ours = await render(input)
    if (ours === prompt) return { outcome: 'equal', detail: '' }
    const policy = findPolicy(input.template, input.conversation.name)
    if (policy !== undefined) return { outcome: 'equal', detail: policy }
    return { outcome: 'different', detail: showDifference(prompt, ours) }
  } catch (error) {
    return { outcome: 'failed', detail: String(error) }
  }
}

async function render({ source, conversation: { messages, tools, isThinking } }: Input) {
  const chat = {
    messages,
    tools,
    toolChoice: 'auto' as const,
    variables: isThinking === undefined ? {} : { enable_thinking: isThinking },
  }
  const { text } = await promptsOf(source, { now })
  return await text(chat)
}

const shownLength = 60

function showDifference(expected: string, ours: string): string {
  let start = 0
  while (expected[start] === ours[start]) start += 1
  const show = (text: string) =>
    JSON.stringify(text.slice(Math.max(0, start - 20), start + shownLength))
  return `llama.cpp ${show(expected)}, shoal ${show(ours)}`
}
