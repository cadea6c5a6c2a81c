import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Conversation, conversations } from './conversations.ts'

/** The folder of the templates in llama.cpp's sources. */
export const templateFolder = 'models/templates'

/** The current time for templates, in shoal and in llama.cpp: 2026-01-01T00:00:00Z. */
export const now = new Date(Date.UTC(2026, 0, 1))

export type Rendering = {
  /** The template's filename. */
  template: string
  conversation: Conversation
  /** The line of input for `native/renderings.cpp`. */
  line: string
}

/** Lists each conversation with each template in llama.cpp's sources, in the order in which llama.cpp renders them. */
export function listRenderings(sourcePath: string): Rendering[] {
  const names = readdirSync(join(sourcePath, templateFolder)).filter((name) =>
    name.endsWith('.jinja'),
  )
  return names.sort().flatMap((template) =>
    conversations.map((conversation) => {
      const { name: _, ...rest } = conversation
      const path = join(templateFolder, template)
      const line = JSON.stringify({ ...rest, template: path, now: now.getTime() / 1000 })
      return { template, conversation, line }
    }),
  )
}
