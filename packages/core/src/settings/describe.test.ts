import { expect, test } from 'vitest'
import { formatHelp, listVariables, setting, word } from './index.ts'

const port = setting({
  variable: 'SHOAL_PORT',
  flag: '--port <number>',
  parse: word,
  default: '8000',
  description: 'port to listen on',
})
const proxy = setting({
  variable: 'SHOAL_TRUST_PROXY',
  parse: word,
  default: '',
  defaultPhrase: 'none',
  description: '`on` behind a proxy',
})
const model = setting({ flag: '--model <model>', parse: word, description: 'model to load' })

test('help shows the description and the default, without Markdown', () => {
  expect([port, proxy, model].map(formatHelp)).toEqual([
    'port to listen on (default: 8000)',
    'on behind a proxy (default: none)',
    'model to load',
  ])
})

test('a variable refers to its flag if the command has it', () => {
  expect(listVariables([port], [])).toEqual([['SHOAL_PORT', 'port to listen on (default: 8000)']])
  expect(listVariables([port, proxy, model], ['--port <number>'])).toEqual([
    ['SHOAL_PORT', 'same as --port'],
    ['SHOAL_TRUST_PROXY', 'on behind a proxy (default: none)'],
  ])
})
