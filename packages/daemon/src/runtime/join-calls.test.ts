import { expect, test } from 'vitest'
import { joinCalls } from './join-calls.ts'
import type { Piece } from './runtime.ts'

test('the parts of each call are joined, other parts are passed on, and a call that was cut off is dropped', () => {
  const pieces: Piece[] = [
    { text: 'I look.' },
    { toolCall: { name: 'look', arguments: '{"where":' } },
    { argumentsDelta: ' "sea"' },
    { argumentsDelta: '}', logprobs: [] },
    { toolCall: { name: 'wait', arguments: '{}' } },
    { toolCall: { name: 'look', arguments: '' } },
    { argumentsDelta: '{"wh' },
  ]
  const joining = joinCalls()
  expect([...pieces.flatMap(joining.take), ...joining.finish()]).toEqual([
    { text: 'I look.' },
    { logprobs: [] },
    { toolCall: { name: 'look', arguments: '{"where": "sea"}' } },
    { toolCall: { name: 'wait', arguments: '{}' } },
  ])
  expect(joining.finish()).toEqual([])
})
