import { randomFrom } from './random.ts'

export type FileExample = { filename: string; quantization: string | null; file_size_bytes: number }

const quantizations = ['Q4_K_M', 'Q8_0', 'F16', 'TIDE F32', 'latest', 'a/b', null]
const stems = [
  'tide',
  'latest',
  'tide F32 (1)',
  'mmproj-tide',
  'F16',
  'Q8_0',
  'q8_0-tide',
  'a+b_(c)',
]

/**
 * Generates sets of files that are hard to tell apart. The filenames follow the registry's rule, except that some
 * extensions are in uppercase. No two filenames in a set differ only in case.
 */
export function fileSetExamples(): FileExample[][] {
  const random = randomFrom(6)
  return Array.from({ length: 200 }, () => {
    const files = Array.from({ length: random.between(1, 6) }, (_, index) => {
      const stem = random.oneOf([
        ...stems,
        random.text('Aa1', 1, 2) + random.text('AaBb01._+() -', 0, 12),
      ])
      const part = random.oneOf(['', '', `-0000${random.between(1, 4)}-of-00003`])
      const extension = random.oneOf(['.gguf', '.gguf', '.GGUF'])
      const quantization = random.oneOf(quantizations)
      return { filename: stem + part + extension, quantization, file_size_bytes: index + 1 }
    })
    return [...new Map(files.map((file) => [file.filename.toUpperCase(), file])).values()]
  })
}
