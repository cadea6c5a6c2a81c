import { type MetadataInput, makeGguf } from '@shoal/model-file/testing'
import { expect, test } from 'vitest'
import { type ChosenFile, choicesAmong, isChosen, readChosen } from './chosen-file.ts'
import { factsAmong, suggestDetails } from './suggest-details.ts'

const tide = {
  'general.architecture': 'llama',
  'general.name': 'Tide 7B',
  'general.license': 'apache-2.0',
  'general.file_type': 7,
  'llama.context_length': 32_768,
}

function ggufFile(filename: string, metadata: Record<string, MetadataInput> = tide): File {
  const tensors = [{ name: 'token_embd.weight', shape: [1000], type: 'F32' }]
  return new File([Buffer.from(makeGguf({ metadata, tensors }))], filename)
}

async function chosen(...files: File[]): Promise<ChosenFile[]> {
  return (await Promise.all(files.map((file) => readChosen(file)))).filter(isChosen)
}

test('the suggested name comes from the filename, and the other details come from the header', async () => {
  const files = await chosen(ggufFile('Tide-7B.Q8_0.gguf'))
  expect(suggestDetails(files)).toMatchObject({
    name: 'tide-7b',
    displayName: 'Tide 7B',
    license: 'apache-2.0',
  })
  expect(factsAmong(files)).toEqual({
    architecture: 'llama',
    parameters: 1000,
    context_length: 32_768,
    quantizations: ['Q8_0'],
  })
})

test('the shards of a split file form one choice, with the sum of their parameters', async () => {
  const files = await chosen(
    ggufFile('tide-Q8_0-00002-of-00002.gguf', { 'split.no': 1, 'split.count': 2 }),
    ggufFile('tide-Q8_0-00001-of-00002.gguf'),
  )
  expect(choicesAmong(files).map(({ parts, files: { length } }) => [parts, length])).toEqual([
    [2, 2],
  ])
  expect(factsAmong(files)).toMatchObject({ architecture: 'llama', parameters: 2000 })
  expect(suggestDetails(files).name).toBe('tide')
})

test('the suggested name comes from the model file, not from a projector', async () => {
  const files = await chosen(
    ggufFile('mmproj-tide.gguf', { 'general.architecture': 'clip' }),
    ggufFile('tide-Q8_0.gguf'),
  )
  expect(suggestDetails(files).name).toBe('tide')
})

test.each([
  ['notes.txt', 'the filename does not end in .gguf'],
  ['-tide.gguf', /^the filename must start/],
  ['tide.gguf', 'not a GGUF file: it does not start with "GGUF"'],
])('%s is refused, and the reason is returned', async (filename, reason) => {
  const read = await readChosen(new File(['no model at all'], filename))
  expect(read).toMatchObject({ filename, reason: expect.stringMatching(reason) })
})

test('a truncated file is refused', async () => {
  const whole = ggufFile('tide.gguf')
  const read = await readChosen(new File([whole.slice(0, whole.size - 100)], 'tide.gguf'))
  expect(read).toMatchObject({ reason: expect.stringMatching('beyond the end of the file') })
})
