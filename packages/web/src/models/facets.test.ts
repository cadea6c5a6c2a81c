import { expect, test } from 'vitest'
import { chosenValues, countedWithin, toggleValue } from './facets.ts'

const search = { q: 'sea', architecture: 'llama', tag: ['chat'], page: 3 }

test('a facet counts the models that match all other filters and, for tags, the chosen tags', () => {
  expect(countedWithin(search, 'architecture')).toEqual({ q: 'sea', tag: ['chat'], page: 3 })
  expect(countedWithin(search, 'tag')).toEqual(search)
})

test('an architecture replaces the chosen one, a tag is added, and a chosen value is removed', () => {
  expect(toggleValue(search, 'architecture', 'qwen')).toEqual({
    q: 'sea',
    architecture: 'qwen',
    tag: ['chat'],
  })
  expect(toggleValue(search, 'architecture', 'llama')).toEqual({ q: 'sea', tag: ['chat'] })
  expect(toggleValue(search, 'tag', 'code').tag).toEqual(['chat', 'code'])
  expect(toggleValue(search, 'tag', 'chat')).toEqual({ q: 'sea', architecture: 'llama' })
})

test('chosen values are listed', () => {
  expect(chosenValues(search, 'tag')).toEqual(['chat'])
  expect(chosenValues(search, 'architecture')).toEqual(['llama'])
  expect(chosenValues(search, 'license')).toEqual([])
})
