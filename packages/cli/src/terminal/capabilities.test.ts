import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { Environment } from '../environment.ts'
import { detectCapabilities } from './capabilities.ts'

function at(isTTY: boolean, env: Environment, options = {}) {
  const stream = () => Object.assign(new PassThrough(), { isTTY })
  const environment = {
    env,
    stdin: Object.assign(Readable.from([]), { isTTY }),
    stdout: stream(),
    stderr: stream(),
    stopSignal: new AbortController().signal,
    memoryBytes: 0,
  }
  const { hasColor, canDraw, canAsk } = detectCapabilities(environment, {
    color: true,
    input: true,
    ...options,
  })
  return { color: hasColor.stdout, draw: canDraw, ask: canAsk }
}

test.each([
  ['a terminal', at(true, {}), { color: true, draw: true, ask: true }],
  ['a pipe', at(false, {}), { color: false, draw: false, ask: false }],
  ['NO_COLOR', at(true, { NO_COLOR: '1' }), { color: false, draw: true, ask: true }],
  ['--no-color', at(true, {}, { color: false }), { color: false, draw: true, ask: true }],
  ['TERM=dumb', at(true, { TERM: 'dumb' }), { color: false, draw: false, ask: false }],
  ['CI', at(true, { CI: 'true' }), { color: true, draw: false, ask: false }],
  ['CI=false', at(true, { CI: 'false' }), { color: true, draw: true, ask: true }],
  ['--no-input', at(true, {}, { input: false }), { color: true, draw: true, ask: false }],
  ['FORCE_COLOR', at(false, { FORCE_COLOR: '1' }), { color: true, draw: false, ask: false }],
  ['FORCE_COLOR=0', at(true, { FORCE_COLOR: '0' }), { color: false, draw: true, ask: true }],
  [
    'FORCE_COLOR and NO_COLOR',
    at(false, { FORCE_COLOR: '1', NO_COLOR: '1' }),
    { color: false, draw: false, ask: false },
  ],
])('%s', (_, found, expected) => {
  expect(found).toEqual(expected)
})
