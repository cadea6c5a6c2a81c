import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { slowTest } from '../../../testing/slow-test.ts'
import { renderCard } from './render-card.ts'
import { findHarm } from './testing/find-harm.ts'

const rendered = (markdown: string, images = false) => renderCard(markdown, { images, names: [] })

test('findHarm finds forbidden elements and attributes', () => {
  expect(findHarm('<p onclick="x">a</p>')).toEqual(['<p onclick="x">'])
  expect(findHarm('<a href="java\nscript:x">a</a>')).toHaveLength(1)
  expect(findHarm('<svg><script>x</script></svg>')).toEqual(['<svg>', '<script>'])
  expect(findHarm('<p style="top:0" id="boot">a</p><!-- b -->')).toHaveLength(3)
  expect(findHarm('<span class="card-image" data-src="https://a.example/b.png">c</span>')).toEqual(
    [],
  )
})

describe('a hostile card', () => {
  const hostile = readFileSync(join(import.meta.dirname, 'testing/hostile-card.md'), 'utf8')

  test.each([false, true])('is harmless as a whole (with images: %s)', (images) => {
    const html = rendered(hostile, images)
    expect(findHarm(html)).toEqual([])
    expect(html).toContain('The end: harmless words.')
  })

  test('is harmless if each of its lines and paragraphs is rendered separately', () => {
    for (const part of [...hostile.split('\n'), ...hostile.split(/\n\n+/)]) {
      expect([part, findHarm(rendered(part, true))]).toEqual([part, []])
    }
  })

  test('makes no requests unless images were requested', () => {
    expect(rendered(hostile)).not.toMatch(/<[^>]* (src|srcset|poster|background|action|ping)=/)
  })
})

test.each([
  ['a script', '<script>alert(1)</script>'],
  ['a script in SVG', '<svg><script>alert(1)</script></svg>'],
  ['a style sheet', '<style>p { color: red }</style>'],
  ['SVG', '<svg><a href="https://a.example"><text>words</text></a></svg>'],
  ['MathML', '<math><mtext>words</mtext></math>'],
  ['a frame', '<iframe src="https://a.example">words</iframe>'],
  ['an object', '<object data="https://a.example"></object>'],
  ['an embedded object', '<embed src="https://a.example">'],
  ['a base URL', '<base href="https://a.example">'],
  ['a refresh', '<meta http-equiv="refresh" content="0; url=https://a.example">'],
  ['a link to a style sheet', '<link rel="stylesheet" href="https://a.example">'],
  ['a form', '<form action="https://a.example"><input name="q"></form>'],
  ['a select element', '<select><option>words</option></select>'],
  ['a text field', '<textarea>words</textarea>'],
  ['a comment', '<!-- words -->'],
  ['a template', '<template><img src="https://a.example"></template>'],
])('%s is removed completely', (_, markdown) => {
  expect(rendered(markdown, true).replace('<p></p>', '')).toBe('')
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'javascript&colon;alert(1)',
  '&#x6A;avascript:alert(1)',
  'java&Tab;script:alert(1)',
  'java&NewLine;script:alert(1)',
  '&#1;javascript:alert(1)',
  '&#160;javascript:alert(1)',
  'vbscript:msgbox(1)',
  'data:text/html,<script>alert(1)</script>',
  'blob:https://a.example/1',
  'file:///etc/passwd',
  'view-source:https://a.example',
  'shoal://pull/x',
])('a link to %s loses its URL', (href) => {
  for (const markdown of [`[words](<${href}>)`, `<a href="${href}">words</a>`]) {
    const html = rendered(markdown)
    expect(html).toContain('words')
    expect(html).not.toContain('href')
  }
})

test.each(['javascript:alert(1)', 'data:image/svg+xml,<svg/onload=alert(1)>', 'file:///a.png'])(
  'an image at %s is not loaded',
  (src) => {
    expect(rendered(`<img src="${src}" alt="words">`, true)).toBe(
      '<span class="card-image">words</span>',
    )
  },
)

test.each([
  'onclick="x"',
  'style="position:fixed;inset:0"',
  'class="fixed inset-0"',
  'id="boot"',
  'id="card-boot"',
  'name="boot"',
  'tabindex="1"',
  'role="alert"',
  'aria-label="x"',
  'data-theme="dark"',
  'hidden',
  'contenteditable',
  'popover',
  'autofocus',
  'accesskey="s"',
  'slot="x"',
  'is="x-y"',
  'itemid="x"',
])('the attribute %s is removed', (attribute) => {
  expect(rendered(`<p ${attribute}>words</p>`)).toBe('<p>words</p>')
})

test('checkboxes cannot be used to build a form', () => {
  expect(rendered('<input type="password" name="p">')).toBe('')
  expect(rendered('<ul><li><input type="image" src="https://a.example" name="p"></li></ul>')).toBe(
    '<ul><li class="card-task"><input type="checkbox" disabled aria-label="Not done"></li></ul>',
  )
})

test('a table cannot span so many rows and columns that a browser hangs', () => {
  expect(rendered('<table><tr><td colspan="1000" rowspan="65534">x</td></tr></table>')).toContain(
    '<td>x</td>',
  )
})

test('markup that parses differently the second time is harmless', () => {
  const html = rendered('<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>a')
  expect(findHarm(html)).toEqual([])
  expect(html).not.toContain('onerror')
})

slowTest('a card whose HTML is too large is refused, even if its source is small', () => {
  const note = `${'[^a]'.repeat(12_000)}\n\n[^a]: x\n`
  expect(() => rendered(note)).toThrow('the HTML is too large')
  const reference = `[a]: <https://a.example/${'y'.repeat(5_000)}>\n\n${'[a]'.repeat(100)}`
  expect(rendered(reference)).not.toContain('yyy')
})
