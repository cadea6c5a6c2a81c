import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tool } from '../../testing/generations.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { startChildRuntime } from '../process/child-runtime.ts'
import type { Tool } from '../runtime.ts'

const demoModel = join(import.meta.dirname, '../../../../../models/shoal-nano/shoal-nano-Q8_0.gguf')
/** The length of a GGUF file's magic, version and counts, after which the metadata begins. */
const countsEnd = 24
const stringType = 8

/** Writes a copy of the demo model with one more metadata entry, a text. Tensors start at multiples of 32 bytes. */
function writeModelWith(path: string, key: string, text: string) {
  const model = readFileSync(demoModel)
  model.writeBigUInt64LE(model.readBigUInt64LE(16) + 1n, 16)
  const length = (value: string) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(BigInt(Buffer.byteLength(value)))
    return bytes
  }
  const type = Buffer.from([stringType, 0, 0, 0])
  const otherBytes = 8 + key.length + 4 + 8
  const padded = text.padEnd(Math.ceil((text.length + otherBytes) / 32) * 32 - otherBytes)
  const entry = [length(key), Buffer.from(key), type, length(padded), Buffer.from(padded)]
  const [counts, rest] = [model.subarray(0, countsEnd), model.subarray(countsEnd)]
  writeFileSync(path, Buffer.concat([counts, ...entry, rest]))
}

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
        json: undefined,
      })
    expect((await render([tool('add', {})])).trim()).toBe('[add]Hi')
    expect(await render([])).toContain('<|im_start|>user\nHi')
  } finally {
    await runtime.close()
  }
})
