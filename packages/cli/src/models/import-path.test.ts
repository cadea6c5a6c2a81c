import { expect, test } from 'vitest'
import { isFilePath } from './import-path.ts'

test.each([
  './tide',
  '../tide',
  '/models/tide',
  'tide.gguf',
  '.\\tide',
  '..\\tide',
  '\\\\server\\models\\tide',
  'C:\\models\\tide',
  'C:/models/tide.gguf',
])('%s is a path', (text) => expect(isFilePath(text)).toBe(true))

test.each([
  'tide',
  'tide:Q8_0',
  'tide:tide.gguf',
  'localhost:8000/tide',
  'models.example.org/tide',
])('%s is a model', (text) => expect(isFilePath(text)).toBe(false))
