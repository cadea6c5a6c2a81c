import { expect, test } from 'vitest'
import { editorWords } from './edit-text.ts'

test('the editor is started by the shell of the system', () => {
  expect(editorWords('code --wait', '/tmp/a b/tide.md', 'darwin')).toEqual({
    words: ['sh', '-c', 'code --wait "$@"', 'code --wait', '/tmp/a b/tide.md'],
    isShellCommand: false,
  })
  expect(editorWords('code --wait', 'C:\\Temp\\a b\\tide.md', 'win32')).toEqual({
    words: ['code --wait "C:\\Temp\\a b\\tide.md"'],
    isShellCommand: true,
  })
})
