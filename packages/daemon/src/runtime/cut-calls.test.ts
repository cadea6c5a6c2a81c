import { expect, test } from 'vitest'
import { makeChatGeneration, runGeneration } from '../testing/generations.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { reportCutCalls } from './cut-calls.ts'
import type { Piece } from './runtime.ts'

const options = { modelPath: '', contextLength: 512, slots: 1, threads: 1 }

async function reasonFor(pieces: Piece[]) {
  const runtime = await reportCutCalls(scriptedRuntime({ pieces }))(options)
  return (await runGeneration(runtime, makeChatGeneration('Hi'))).reason
}

test('an answer is reported as cut off if the arguments of any of its calls are not complete JSON', async () => {
  expect(await reasonFor([{ toolCall: { name: 'a', arguments: '{"x":' } }])).toBe('length')
  expect(await reasonFor([{ toolCall: { name: 'a', arguments: '' } }])).toBe('length')
  expect(
    await reasonFor([{ toolCall: { name: 'a', arguments: '' } }, { argumentsDelta: '{"x":1' }]),
  ).toBe('length')
  const complete = { toolCall: { name: 'b', arguments: '{}' } }
  expect(await reasonFor([{ toolCall: { name: 'a', arguments: '{"x":' } }, complete])).toBe(
    'length',
  )
})

test('complete calls and text are unchanged', async () => {
  const complete = [{ toolCall: { name: 'a', arguments: '{"x":' } }, { argumentsDelta: '1}' }]
  expect(await reasonFor(complete)).toBe('tool_calls')
  expect(await reasonFor([{ text: '{"x":' }])).toBe('stop')
})

test('a generation ends when its consumer stops reading', async () => {
  const runtime = await reportCutCalls(scriptedRuntime())(options)
  const { signal } = new AbortController()
  for await (const _ of runtime.generate(makeChatGeneration('Hi'), signal)) break
  // The only slot is free again.
  expect((await runGeneration(runtime, makeChatGeneration('Hi'))).reason).toBe('stop')
})
