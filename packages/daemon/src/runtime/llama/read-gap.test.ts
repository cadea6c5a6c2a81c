import type { LlamaModel, Token } from 'node-llama-cpp'
import { expect, test } from 'vitest'
import { canFillGaps, gapReader } from './read-gap.ts'

/** A model whose tokens are characters. The tokens 1 to 3 mark the gap, and others can be at the end of `vocabulary`. */
function modelWith(...vocabulary: string[]) {
  const tokens = ['', '', '', '', '<s>', ...vocabulary]
  return {
    tokens: {
      infill: { prefix: 1, suffix: 2, middle: 3 },
      bos: 4,
      shouldPrependBosToken: true,
    },
    fileInfo: { metadata: { tokenizer: { ggml: { tokens } } } },
  } as unknown as LlamaModel
}

async function read(model: LlamaModel, filenames: string[]) {
  const readGap = gapReader(model, async ({ text }, most = 0) => {
    const tokens = Array.from(text, (char) => char.charCodeAt(0) as Token).slice(0, most)
    return { tokens, isWhole: tokens.length === text.length, totalTokens: text.length }
  })
  const files = filenames.map((filename) => ({ filename, text: 'file' }))
  const gap = { before: 'before', after: 'after', begun: 'begun', files }
  const { tokens, ...rest } = await readGap(gap, 5)
  const text = tokens.map((token) => (token < 9 ? `<${token}>` : String.fromCharCode(token)))
  return { text: text.join(''), ...rest }
}

test('a prompt with a gap consists of the text before it, after it and in it', async () => {
  expect(await read(modelWith(), [])).toEqual({
    text: '<4><1>befor<2>after<3>begun',
    isWhole: false,
    totalTokens: 20,
  })
})

test('other files come first, with the tokens for them if the model has these tokens', async () => {
  const withTokens = await read(modelWith('<|repo_name|>', '<|file_sep|>'), ['a.ts', 'b.ts'])
  expect(withTokens.text).toBe('<4><5>mypro<6>a.ts\n<6>b.ts\n<6>filen<1>befor<2>after<3>begun')
  const without = await read(modelWith(), ['a.ts'])
  expect(without.text).toBe('<4>\n\n---file<1>befor<2>after<3>begun')
})

test('a model without one of the tokens cannot fill gaps', () => {
  const model = modelWith()
  expect(canFillGaps(model)).toBe(true)
  Object.assign(model.tokens.infill, { middle: null })
  expect(canFillGaps(model)).toBe(false)
})
