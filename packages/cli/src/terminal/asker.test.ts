import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createAsker } from './asker.ts'

test('a refused secret is removed from the prompt', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: false })
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
  const { signal } = new AbortController()
  const environment = { stdin, stderr, stopSignal: signal } as unknown as Parameters<
    typeof createAsker
  >[0]
  const asker = createAsker(environment, { canAsk: true, yes: false })
  const refused = Promise.withResolvers<void>()
  const secret = asker.secret({
    message: 'Password',
    instead: 'Pass it.',
    validate: (typed) => (typed === 'long enough' ? undefined : 'Too short.'),
  })
  stderr.on('data', (shown) => String(shown).includes('Too short.') && refused.resolve())
  stdin.write('short\r')
  await refused.promise
  stdin.write('long enough\r')
  expect(await secret).toBe('long enough')
})
