import { expect, test } from 'vitest'
import { checkWritable } from './image-disk.ts'
import { temporaryFolder } from './temporary-folder.ts'

test('a repaired disk that is still not writable is reported', () => {
  expect(() => checkWritable(temporaryFolder())).not.toThrow()
  expect(() => checkWritable('/proc')).toThrow(
    'the disk at /proc was repaired, but is not writable',
  )
})
