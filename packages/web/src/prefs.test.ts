import { usualContext } from '@shoal/model-file/choices'
import { expect, test } from 'vitest'
import { originFrom, readPrefs, usualContextTokens } from './prefs.ts'

test('invalid cookies are ignored', () => {
  const usual = readPrefs('')
  expect(usual.memoryGb).toBe(16)
  expect(
    readPrefs('theme=pink; memory=17; context=9000; daemon=javascript:alert(1); slash=x; ='),
  ).toEqual(usual)
})

test('valid cookies are read', () => {
  expect(
    readPrefs('theme=dark; memory=64; context=32768; daemon=http://gpu:8080; slash=off'),
  ).toEqual({
    theme: 'dark',
    memoryGb: 64,
    contextTokens: 32_768,
    daemon: 'http://gpu:8080',
    hasSlashKey: false,
  })
})

test('the daemon address is the one set by the visitor, then the one from the registry, then the default', () => {
  const chosen = 'daemon=http://gpu:8080'
  expect(readPrefs('').daemon).toBe('http://localhost:11434')
  expect(readPrefs('', 'http://localhost:11500').daemon).toBe('http://localhost:11500')
  expect(readPrefs('', '').daemon).toBeUndefined()
  expect(readPrefs(chosen, 'http://localhost:11500').daemon).toBe('http://gpu:8080')
  expect(readPrefs(chosen, '').daemon).toBe('http://gpu:8080')
})

test.each([
  ['gpu', 'http://gpu'],
  ['gpu:11434', 'http://gpu:11434'],
  ['https://gpu.example/v1', 'https://gpu.example'],
  ['127.0.0.1:9', 'http://127.0.0.1:9'],
  ['http://[::1]:11434/', 'http://[::1]:11434'],
])('%s is parsed as the origin %s', (text, origin) => {
  expect(originFrom(text)).toBe(origin)
})

test.each(['', 'http://', 'gpu:port', 'javascript:alert(1)', 'http://a;b', 'a b', "gpu'", 'a$(b)'])(
  '%j is not a web address',
  (text) => {
    expect(originFrom(text)).toBeUndefined()
  },
)

test('memory is estimated for the usual context length by default', () => {
  expect(usualContextTokens).toBe(usualContext)
  expect(readPrefs('').contextTokens).toBe(usualContext)
})
