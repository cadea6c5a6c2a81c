import { expect, test } from 'vitest'
import { readCardDetails } from './card-details.ts'

const nothing = { license: null, tags: [] }

test('a license, tags, languages and base models are read from front matter', () => {
  const card = `---
# Published with care
license: apache-2.0
language:
- en
- "no"
tags: [chat, 'long context', chat]
base_model: tideline/tide-7b
model-index:
- name: tide
  results: [{ license: mit }]
---
# Tide`
  expect(readCardDetails(card)).toEqual({
    license: 'apache-2.0',
    tags: ['chat', 'long context', 'en', 'no', 'base_model:tideline/tide-7b'],
  })
  expect(readCardDetails(card.replaceAll('\n', '\r\n'))).toEqual(readCardDetails(card))
})

test.each([
  ['license: other\nlicense_name: llama3', 'llama3'],
  ['license: other', 'other'],
  ['license: 1.0', '1.0'],
  ['license: [mit, apache-2.0]', 'mit'],
  ['license: null', null],
  ['license:', null],
  ['license: {name: mit}', null],
  [`license: ${'x'.repeat(101)}`, null],
  ['license: "a\\u202eb"', null],
  ['license: *other', null],
  ['license: mit\nlicense: isc', 'mit'],
])('%j states the license %s', (yaml, license) => {
  expect(readCardDetails(`---\n${yaml}\n---\n`)).toEqual({ license, tags: [] })
})

test('tags that a model cannot have are left out', () => {
  const tags = ['sea', 'x'.repeat(65), '"a\\tb"', '', '{a: b}', '[c]', '~']
  const listed = (items: string[]) =>
    `---\ntags:\n${items.map((tag) => `- ${tag}`).join('\n')}\n---`
  expect(readCardDetails(listed(tags)).tags).toEqual(['sea'])
  const many = Array.from({ length: 70 }, (_, index) => `t${index}`)
  expect(readCardDetails(listed(many)).tags).toEqual(many.slice(0, 64))
})

test.each([
  null,
  '',
  '# Tide',
  '---\nlicense: [\n---\n',
  '---\nlicense: mit\n  tags: x\n---\n',
  '---\n---\n',
  `---\nlicense: ${'['.repeat(4000)}\n---\n`,
  `---\ntags: [${','.repeat(5000)}]\n---\n`,
  `---\ntags:\n${'- '.repeat(1500)}\n---\n`,
])('%j has no details', (readme) => {
  expect(readCardDetails(readme)).toEqual(nothing)
})
