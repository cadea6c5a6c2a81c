import { defaultChoice, fileChoices, findChoices } from '@shoal/model-file/choices'
import { expect, test } from 'vitest'
import { findModel, type LocalModel } from './local-models.ts'

const files = [
  { filename: 'Q8_0.gguf', quantization: 'F16', size: 3 },
  { filename: 'x-Q8_0.gguf', quantization: 'Q8_0', size: 1 },
  { filename: 'y-Q8_0.gguf', quantization: 'Q8_0', size: 2 },
]

const choices = fileChoices(files, ({ size }) => size)

const modelsWith = (standard: string) =>
  choices.map(({ label, quantization, files: [{ filename }] }) => ({
    id: filename === standard ? 'tiny' : `tiny:${label}`,
    name: 'tiny',
    label,
    quantization,
    path: `/models/tiny/${filename}`,
    preset: {},
  })) as LocalModel[]

test('a name refers to the file that a pull of that name downloads', () => {
  const all = modelsWith('y-Q8_0.gguf')
  const wanted = ['Q8_0', 'q8_0', 'F16', 'f16', 'x-Q8_0', 'X-q8_0.gguf', 'Q8_0.gguf', 'Q4_0']
  for (const text of wanted) {
    const pulled = defaultChoice(findChoices(choices, text), 8e9)?.files[0].filename
    expect(findModel(all, `tiny:${text}`)?.path, text).toBe(pulled && `/models/tiny/${pulled}`)
  }
})

test('if several files have the same quantization, a name with that quantization refers to the default file or, if the default file is not one of them, to the smallest', () => {
  expect(findModel(modelsWith('y-Q8_0.gguf'), 'tiny:Q8_0')?.label).toBe('y-Q8_0')
  expect(findModel(modelsWith('Q8_0.gguf'), 'tiny:Q8_0')?.label).toBe('x-Q8_0')
})
