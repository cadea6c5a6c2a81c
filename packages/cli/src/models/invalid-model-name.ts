import { misuse } from '../terminal/failure.ts'

export const invalidModelName = (text: string) =>
  misuse(
    `“${text}” is not a valid model name.`,
    'Use 2 to 96 characters: lowercase letters, digits, dots, hyphens or underscores. Start and end with a letter or digit.',
  )
