import { expect, test } from 'vitest'
import { formatRunLink } from './format-run-link.ts'
import { isModelName } from './model-name.ts'
import { decodeRunTarget, findRunText } from './run-link.ts'

/** How the daemon's page interprets a link. */
const read = (link: string) => decodeRunTarget(findRunText(new URL(link).hash) ?? '')
const readText = (text: string) => decodeRunTarget(encodeURIComponent(text))

test.each([
  ['http://localhost:8000', 'tide', 'Q8_0'],
  ['https://models.example.org', 'tide-7b', 'tide F32 (1)'],
  ['http://[::1]:8000', 'tide', undefined],
])('a link to %s/%s:%s is read as it was written', (registry, name, label) => {
  const target = { registry, name, label }
  const link = formatRunLink('http://localhost:11434', target)
  expect(link).toMatch(/^http:\/\/localhost:11434\/#run=https?%3A%2F%2F/)
  expect(read(link)).toEqual(target)
})

test.each([
  ['HTTPS://Models.Example.org:443/Tide:latest', 'https://models.example.org', 'tide', undefined],
  ['http://2130706433:80/tide', 'http://127.0.0.1', 'tide', undefined],
  ['https://мodels.example/tide:Q4_0', 'https://xn--odels-5xe.example', 'tide', 'Q4_0'],
  ['https://models%2eexample/tide', 'https://models.example', 'tide', undefined],
])('%s names the registry %s', (text, registry, name, label) => {
  expect(readText(text)).toEqual({ registry, name, label })
})

test('other texts are not the address of a model', () => {
  const texts = [
    '',
    'tide',
    'localhost:8000/tide',
    'javascript:alert(1)//tide',
    'file:///etc/tide',
    'ftp://example.org/tide',
    'http:/example.org/tide',
    'http:///tide',
    'http://user@example.org/tide',
    'http://user:secret@example.org/tide',
    'http://example.org@evil.example/tide',
    'http://example.org\\@evil.example/tide',
    'http://example.org:99999/tide',
    'http://example.org/',
    'http://example.org/../tide',
    'http://example.org/m/tide',
    'http://example.org/tide?q=1',
    'http://example.org/tide#1',
    'http://example.org?/tide',
    'http://exam\tple.org/tide',
    'http://example.org/tide\n',
    'http://example.org/tide:Q8\u202e0',
    'http://\u200bexample.org/tide',
    'http://exa mple.org/tide',
    "http://exa'mple.org/tide",
    `http://example.org/${'a'.repeat(97)}`,
    `http://example.org/tide:${'a'.repeat(10_000)}`,
  ]
  for (const text of texts) expect(readText(text), text.slice(0, 60)).toBeUndefined()
})

test('a fragment that is not encoded properly is not the address of a model', () => {
  expect(decodeRunTarget('http://example.org/tide%')).toBeUndefined()
  expect(decodeRunTarget('%ff'.repeat(10))).toBeUndefined()
  expect(findRunText('#chat-1')).toBeUndefined()
})

test('names follow the rule for models', () => {
  for (const name of [
    'ab',
    'a',
    'tide-7b',
    '-ab',
    'ab.',
    'a.b_c',
    'a b',
    'ä1',
    'a'.repeat(96),
    'a'.repeat(97),
  ]) {
    const isRead = readText(`http://localhost/${name}`) !== undefined
    expect(isRead, name).toBe(isModelName(name))
  }
})
