import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeChatGeneration, tool } from '../../testing/generations.ts'
import { writeModelWith } from '../../testing/model-with-text.ts'
import { promptsOf } from '../../testing/prompts-of.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { startChildRuntime } from '../process/child-runtime.ts'
import type { Chat, Tool } from '../runtime.ts'
import { findTemplates } from './load-model.ts'

test('chats with tools are rendered with the template for tools, if the model has one', async () => {
  using folder = temporaryFolder()
  const modelPath = join(folder.path, 'model.gguf')
  const template =
    '{% for t in tools %}[{{ t.function.name }}]{% endfor %}{{ messages[0].content }}'
  writeModelWith(modelPath, 'tokenizer.chat_template.tool_use', template)
  const runtime = await startChildRuntime({ modelPath, contextLength: 64, slots: 1, threads: 1 })
  try {
    const render = (tools: Tool[]) =>
      runtime.applyTemplate({
        chat: {
          messages: [{ role: 'user', content: 'Hi' }],
          tools,
          toolChoice: 'auto',
          variables: {},
        },
        form: undefined,
      })
    expect((await render([tool('add', {})])).trim()).toBe('[add]Hi')
    expect(await render([])).toContain('<|im_start|>user\nHi')
  } finally {
    await runtime.close()
  }
})

test.each([
  ['no template', new Map()],
  ['an empty template', new Map([['tokenizer.chat_template', ' \n']])],
])('a file with %s uses ChatML', async (_, metadata) => {
  const { text } = await promptsOf(findTemplates(metadata).plain)
  const { prompt } = makeChatGeneration('Hi')
  expect(await text((prompt as { chat: Chat }).chat)).toBe(
    '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
  )
})
