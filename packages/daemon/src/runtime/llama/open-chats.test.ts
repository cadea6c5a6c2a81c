import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tool } from '../../testing/generations.ts'
import { writeModelWith } from '../../testing/model-with-text.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { startChildRuntime } from '../process/child-runtime.ts'
import type { Tool } from '../runtime.ts'

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
