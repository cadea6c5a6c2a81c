import { expect, test } from 'vitest'
import { chunkProgress } from './chunk-progress.ts'

const kibibyte = 1024

test('bytes that are sent again count as sent, but the registry has them only once', () => {
  const count = { bytesHere: 5, bytesSent: 0 }
  const progress = chunkProgress(1000, count)
  progress.setSent(600)
  expect(count).toEqual({ bytesHere: 605, bytesSent: 600 })
  progress.setSent(0)
  expect(count).toEqual({ bytesHere: 5, bytesSent: 600 })
  progress.setSent(1000)
  expect(progress.isWhole()).toBe(true)
  progress.finish()
  expect(count).toEqual({ bytesHere: 1005, bytesSent: 1600 })
})

test('a chunk that the registry already has counts without being sent', () => {
  const count = { bytesHere: 0, bytesSent: 0 }
  const progress = chunkProgress(1000, count)
  progress.setSent(400)
  progress.setSent(0)
  expect(progress.isWhole()).toBe(false)
  progress.finish()
  expect(count).toEqual({ bytesHere: 1000, bytesSent: 400 })
})

test('only 256 KiB more than any attempt before are progress', () => {
  const { setSent } = chunkProgress(1024 * kibibyte, { bytesHere: 0, bytesSent: 0 })
  const isProgress = [255, 256, 511, 0, 300, 512].map((kibibytes) => setSent(kibibytes * kibibyte))
  expect(isProgress).toEqual([false, true, false, false, false, true])
})
