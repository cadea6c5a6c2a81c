import { expect, test } from 'vitest'
import { localSchedule } from './local-schedule.ts'

const minute = 60_000

test('a torrent is announced immediately, after a minute, and then every five minutes', () => {
  const schedule = localSchedule()
  const announcedAt = Array.from({ length: 120 }, (_, index) => index * 10_000).filter(
    (now) => schedule.take(['a'], now).length > 0,
  )
  expect(announcedAt.map((at) => at / minute)).toEqual([0, 1, 6, 11, 16])
})

test('a new torrent is announced at once, without repeating the announcements of other torrents', () => {
  const schedule = localSchedule()
  expect(schedule.take(['a'], 0)).toEqual(['a'])
  expect(schedule.take(['a', 'b'], 1000)).toEqual(['b'])
})

test('repeated announcements are sent together, at most once a minute', () => {
  const schedule = localSchedule()
  for (let second = 0; second <= 50; second += 10) {
    const known = Array.from({ length: second / 10 + 1 }, (_, index) => `torrent ${index}`)
    schedule.take(known, second * 1000)
  }
  const all = Array.from({ length: 6 }, (_, index) => `torrent ${index}`)
  expect(schedule.take(all, minute)).toEqual(['torrent 0'])
  expect(schedule.take(all, minute + 59_000)).toEqual([])
  expect(schedule.take(all, 2 * minute)).toEqual(all.slice(1))
})

test('a removed torrent is not announced, and counts as new if it is added again', () => {
  const schedule = localSchedule()
  schedule.take(['a', 'b'], 0)
  expect(schedule.take(['b'], minute)).toEqual(['b'])
  expect(schedule.take(['a', 'b'], minute + 1)).toEqual(['a'])
})

test('a machine that wakes up from a long sleep announces its torrents immediately', () => {
  const schedule = localSchedule()
  schedule.take(['a'], 0)
  schedule.take(['a'], minute)
  expect(schedule.take(['a'], 60 * minute)).toEqual(['a'])
})

test('setting the clock back does not stop announcements', () => {
  const schedule = localSchedule()
  schedule.take(['a'], 60 * minute)
  expect(schedule.take(['a'], 0)).toEqual(['a'])
  expect(schedule.take(['a'], minute)).toEqual([])
  expect(schedule.take(['a'], 5 * minute)).toEqual(['a'])
})

test('all torrents are announced on a new network within a minute', () => {
  const schedule = localSchedule()
  schedule.take(['a'], 0)
  schedule.take(['a'], minute)
  schedule.hurry()
  expect(schedule.take(['a'], minute + 30_000)).toEqual([])
  expect(schedule.take(['a'], 2 * minute)).toEqual(['a'])
})
