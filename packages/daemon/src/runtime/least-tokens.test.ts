import { expect, test } from 'vitest'
import { leastTokens } from './least-tokens.ts'

test('the least number of tokens is derived from the number of messages and bytes', () => {
  const chat = (...messages: [role: string, content: string][]) => ({
    chat: {
      messages: messages.map(([role, content]) => ({ role, content })),
      tools: [],
      toolChoice: 'auto' as const,
      variables: {},
    },
  })
  expect(leastTokens({ tokens: [1, 2, 3] }, 4)).toBe(3)
  expect(leastTokens({ text: 'äöü!' }, 4)).toBe(2)
  expect(leastTokens(chat(['user', 'nine byte'], ['assistant', 'ignored'], ['user', '']), 4)).toBe(
    5,
  )
  expect(leastTokens({ text: 'a word of any length' }, Number.POSITIVE_INFINITY)).toBe(0)
})
