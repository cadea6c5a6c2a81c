import { expect, test } from 'vitest'
import { createColors, toTerminal } from './colors.ts'
import { progressFrame } from './progress-frame.ts'

const plain = createColors(false)
const status = { bytesDone: 4.49e9, bytesTotal: 6.6e9 }

test('shows a bar, percent, amount, speed and remaining time', () => {
  const [bar, pace] = progressFrame(
    { ...status, bytesPerSecond: 92.4e6, secondsLeft: 23, remarks: ['2 sources'] },
    100,
    plain,
  )
  expect(bar).toBe(`${'━'.repeat(32)}╸${'─'.repeat(15)}  68%  4.49 GB of 6.60 GB`)
  expect(pace).toBe('92.4 MB/s   2 sources   23 s left')
})

test.each([120, 80, 60, 40, 20, 12, 8])('no line is wider than %i columns', (columns) => {
  const lines = progressFrame({ ...status, bytesPerSecond: 1e6, secondsLeft: 23 }, columns, plain)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
})

test('the bar is full, at 100%, only when nothing is left', () => {
  const [almost] = progressFrame({ bytesDone: 6.5999e9, bytesTotal: 6.6e9 }, 100, plain)
  const [all] = progressFrame({ bytesDone: 6.6e9, bytesTotal: 6.6e9 }, 100, plain)
  expect(almost).toContain(' 99%')
  expect(all).toBe(`${'━'.repeat(48)} 100%  6.60 GB of 6.60 GB`)
})

test('with colors, the rest of the bar has the same character, dimmed', () => {
  const [bar = ''] = progressFrame(status, 100, createColors(true))
  expect(toTerminal(bar)).toContain('\x1b[38;5;209m━')
  expect(bar).not.toContain('─')
})
