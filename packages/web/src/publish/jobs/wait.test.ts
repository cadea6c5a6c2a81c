import type { TransferFailure } from '@shoal/transfer/push'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { formatReason } from './wait.ts'

afterEach(() => vi.unstubAllGlobals())

const busy: TransferFailure = {
  kind: 'busy',
  message: 'shoal.test returned status 502',
  status: 502,
}
const networkFailure = {
  code: 'unreachable',
  reason: 'unknown',
  host: 'shoal.test',
  detail: '',
} as const

test.each<[TransferFailure, string]>([
  [{ ...busy, retryAfterSeconds: 2, detail: 'the store is offline' }, 'The registry is busy'],
  [{ ...busy, detail: 'the store is offline' }, 'The store is offline'],
  [busy, 'Shoal.test returned status 502'],
  [{ kind: 'lost', message: 'fetch failed', networkFailure }, 'The registry is not responding'],
  [{ kind: 'lost', message: 'the connection broke' }, 'The connection broke'],
])('the reason shown for a wait is derived from the failure (case %#)', (failure, reason) => {
  expect(formatReason(failure)).toBe(reason)
})

test('if the browser is offline, that is shown as the reason instead of the failure', () => {
  vi.stubGlobal('navigator', { onLine: false })
  onTestFinished(() => void vi.unstubAllGlobals())
  expect(formatReason({ kind: 'lost', message: 'the connection broke' })).toBe('You are offline')
})
