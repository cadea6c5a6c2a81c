import { expect, test } from 'vitest'
import { isBlank, isName, isText, plainLine } from './text.ts'

test.each([
  'a',
  'Tide & Ebb',
  'שלום',
  'مرحبا\u200f',
  '👨\u200d👩\u200d👧',
  'e\u0301',
  '\ue000',
  '中文 模型',
])('%j is a valid name', (text) => {
  expect(isName(text)).toBe(true)
  expect(plainLine(text)).toBe(text)
})

test.each(['', '   ', '\u00a0', '\u200b\u200d', '\ufeff', '\u3164', '\u2800', '\u2003\u2060'])(
  '%j is blank and not a valid name',
  (text) => {
    expect(isBlank(text)).toBe(true)
    expect(isName(text)).toBe(false)
  },
)

test.each(['\u0001', '\u001b[31m', '\u007f', '\u0085', '\ufffe', '\uffff', '\ud800', '\udc00'])(
  'a string with %j is valid neither as a name nor as text',
  (bad) => {
    expect(isName(`a${bad}b`)).toBe(false)
    expect(isText(`a${bad}b`)).toBe(false)
  },
)

test.each(['\t', '\n', '\r\n', '\u2028', '\u2029', '\u202e', '\u2066'])(
  'text may contain %j, but a name may not',
  (character) => {
    expect(isName(`a${character}b`)).toBe(false)
    expect(isText(`a${character}b`)).toBe(true)
    expect(plainLine(`a${character}b`)).toBe('ab')
  },
)
