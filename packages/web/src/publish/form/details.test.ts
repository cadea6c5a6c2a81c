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

test('a name is all that a model needs', () => {
  expect(findDetailErrors(sound)).toEqual({})
  expect(toNewModel(sound)).toEqual({ name: 'tide-7b', is_public: true })
})

test.each(['', 'a', '-tide', 'tide-', 'Tide', 'tide 7b', 'chunks', 'a'.repeat(97)])(
  'a model cannot be called “%s”',
  (name) => expect(Object.keys(findDetailErrors({ ...sound, name }))).toEqual(['name']),
)

test('a name cannot look like an id', () => {
  const name = '0193e0a0-0000-7000-8000-000000000000'
  expect(findDetailErrors({ ...sound, name }).name).toBeDefined()
})

test('an error is shown for each field that is too long', () => {
  const errors = findDetailErrors({
    ...sound,
    displayName: 'x'.repeat(201),
    tags: `fine, ${'y'.repeat(65)}`,
  })
  expect(errors).toEqual({
    displayName: 'At most 200 characters.',
    tags: 'A tag has at most 64 characters.',
  })
})

test('tags are parted by commas, and each is told once', () => {
  expect(toNewModel({ ...sound, tags: ' chat, multi lingual,,chat ' }).tags).toEqual([
    'chat',
    'multi lingual',
  ])
})
