import { expect, test } from 'vitest'
import { type Details, findDetailErrors, toNewModel } from './details.ts'

const sound: Details = {
  name: 'tide-7b',
  displayName: '',
  license: '',
  tags: '',
  description: '',
  readme: '',
  isPublic: true,
}

test('only the name of a model is required', () => {
  expect(findDetailErrors(sound)).toEqual({})
  expect(toNewModel(sound)).toEqual({ name: 'tide-7b', is_public: true })
})

test.each(['', 'a', '-tide', 'tide-', 'Tide', 'tide 7b', 'chunks', 'a'.repeat(97)])(
  'the name “%s” is invalid',
  (name) => expect(Object.keys(findDetailErrors({ ...sound, name }))).toEqual(['name']),
)

test('a UUID is invalid as a name', () => {
  const name = '0193e0a0-0000-7000-8000-000000000000'
  expect(findDetailErrors({ ...sound, name }).name).toBeDefined()
})

test('an error is returned for each field that is too long', () => {
  const errors = findDetailErrors({
    ...sound,
    displayName: 'x'.repeat(201),
    tags: `fine, ${'y'.repeat(65)}`,
  })
  expect(errors).toEqual({
    displayName: 'At most 200 characters.',
    tags: 'A tag can have at most 64 characters.',
  })
})

test('tags are split at commas, and empty and duplicate tags are removed', () => {
  expect(toNewModel({ ...sound, tags: ' chat, multi lingual,,chat ' }).tags).toEqual([
    'chat',
    'multi lingual',
  ])
})
