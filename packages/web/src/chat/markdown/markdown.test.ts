import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { blocksOf } from './blocks.ts'
import { chunksOf } from './chunks.ts'
import { Markdown } from './markdown.tsx'
import { spansOf, textOf } from './spans.ts'

/** Without the classes, which say nothing about what is what. */
const htmlOf = (source: string) =>
  renderToStaticMarkup(createElement(Markdown, { source }))
    .replace(/ class="[^"]*"/g, '')
    .replace(/<\/?div>/g, '')

describe('what models write', () => {
  test('paragraphs, with marks in them', () => {
    expect(htmlOf('One **two** *three* _four_ ~~five~~ `six <b>`\\*\nseven  \neight')).toBe(
      '<p>One <strong>two</strong> <em>three</em> <em>four</em> <del>five</del> <code>six &lt;b&gt;</code>*\nseven<br/>eight</p>',
    )
  })

  test('marks within marks, and none within names and sums', () => {
    expect(htmlOf('**a *b* c** ***d***')).toBe(
      '<p><strong>a <em>b</em> c</strong> <strong><em>d</em></strong></p>',
    )
    expect(htmlOf('snake_case_name 2 * 3 * 4 a*b*c')).toBe('<p>snake_case_name 2 * 3 * 4 a*b*c</p>')
  })

  test('headings, below those of the page', () => {
    expect(htmlOf('# One\n## Two ##\n\n#hash')).toBe('<h3>One</h3><h4>Two</h4><p>#hash</p>')
  })

  test('lists, nested and numbered from where they begin', () => {
    expect(htmlOf('3. a\n   - b\n   - c\n\n4. d')).toBe(
      '<ol start="3"><li><p>a</p><ul><li><p>b</p></li><li><p>c</p></li></ul></li><li><p>d</p></li></ol>',
    )
    expect(htmlOf('- a\n  goes on\n* b')).toBe(
      '<ul><li><p>a\ngoes on</p></li><li><p>b</p></li></ul>',
    )
    expect(htmlOf('It was in\n1984. Then')).toBe('<p>It was in\n1984. Then</p>')
  })

  test('code as it is, also before its fence is closed', () => {
    const [block] = blocksOf('```ts\nconst a = `b`\n\n**not bold**')
    expect(block).toEqual({ kind: 'code', language: 'ts', text: 'const a = `b`\n\n**not bold**' })
    expect(blocksOf('~~~\n```\n~~~\nafter')).toEqual([
      { kind: 'code', language: '', text: '```' },
      { kind: 'paragraph', text: 'after' },
    ])
  })

  test('code in a list', () => {
    expect(blocksOf('1. Run\n   ```sh\n   ls\n   ```\n2. Done')).toMatchObject([
      { kind: 'list', items: [[{}, { kind: 'code', language: 'sh', text: 'ls' }], [{}]] },
    ])
  })

  test('tables, quotes and rules', () => {
    expect(htmlOf('| a | b |\n|---|:-:|\n| 1 | x \\| y |\n| 2 |')).toContain(
      '<tr><td>1</td><td>x | y</td></tr><tr><td>2</td><td></td></tr>',
    )
    expect(blocksOf('|a|b|c|d|\n|-|:-|:-:|-:|\n|1|2|3|4|')).toMatchObject([
      { kind: 'table', aligns: ['left', 'left', 'center', 'right'] },
    ])
    expect(htmlOf('> a\n> b\n\n---')).toBe('<blockquote><p>a\nb</p></blockquote><hr/>')
    expect(htmlOf('a | b is no table')).toBe('<p>a | b is no table</p>')
  })

  test('links and bare addresses', () => {
    const rel = 'target="_blank" rel="nofollow ugc noopener noreferrer"'
    expect(htmlOf('[a](https://a.example/x_(y) "title"), https://b.example/c.')).toBe(
      `<p><a href="https://a.example/x_(y)" ${rel}>a</a>, <a href="https://b.example/c" ${rel}>https://b.example/c</a>.</p>`,
    )
  })
})

describe('what somebody had a model write', () => {
  test('markup is text', () => {
    const html = htmlOf('<img src=x onerror=alert(1)><script>alert(1)</script>')
    expect(html).toBe(
      '<p>&lt;img src=x onerror=alert(1)&gt;&lt;script&gt;alert(1)&lt;/script&gt;</p>',
    )
  })

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '/v1/models',
    '//evil.example',
  ])('%s is no link', (address) => {
    expect(htmlOf(`[click](${address})`)).not.toContain('<a')
    expect(htmlOf(`[click](<${address}>)`)).not.toContain('<a')
  })

  test('images are links: nothing is fetched before somebody wants it', () => {
    const html = htmlOf('![fish](https://evil.example/pixel.png)')
    expect(html).not.toContain('<img')
    expect(html).toContain('>fish</a>')
  })

  const long = 50_000
  test.each([
    ['stars', '*'.repeat(long)],
    ['openings of bold', '**a '.repeat(long)],
    ['brackets', '['.repeat(long)],
    ['halves of links', '[a]('.repeat(long)],
    ['backticks', '`'.repeat(long)],
    ['backticks apart', '` `` '.repeat(long)],
    ['quotes', '>'.repeat(long)],
    ['lists in lists', Array.from({ length: 500 }, (_, i) => `${'  '.repeat(i)}- a`).join('\n')],
    ['fences', '```\n'.repeat(long / 10)],
    ['items apart', '- a\n\n\n\n\n'.repeat(long / 10)],
    ['pipes', `${'|'.repeat(long)}\n${'|-'.repeat(long)}`],
    ['underscores', '_a'.repeat(long)],
    ['tildes', '~~a '.repeat(long)],
    ['backslashes', '\\'.repeat(long)],
    ['spaces', `${' '.repeat(long)}x`],
    ['empty lines', '\n'.repeat(long)],
    ['numbers', '1. '.repeat(long)],
    ['addresses', 'https://'.repeat(long)],
  ])('%s without end are read in time', (_, source) => {
    const start = performance.now()
    htmlOf(source)
    expect(performance.now() - start).toBeLessThan(5000)
  })
})

describe('an answer that comes in', () => {
  const source = '# A\n\nb\nc\n\n- d\n\n- e\n\n  f\n\ng\n\n```\nh\n\ni\n```\n\nj'

  test('is cut where nothing before can change', () => {
    expect(chunksOf(source)).toEqual([
      '# A\n',
      'b\nc\n',
      '- d\n\n- e\n\n  f\n',
      'g\n',
      '```\nh\n\ni\n```\n',
      'j',
    ])
  })

  test('has the same chunks at its end as when each was the last, save the last', () => {
    const whole = chunksOf(source)
    for (let length = 0; length <= source.length; length += 1) {
      const some = chunksOf(source.slice(0, length)).slice(0, -1)
      expect(some).toEqual(whole.slice(0, some.length))
    }
  })

  test('loses no word in its chunks', () => {
    const words = chunksOf(source).flatMap(blocksOf).length
    expect(words).toBe(blocksOf(source).length)
    expect(textOf(spansOf('a **b** `c` [d](https://e.example)'))).toBe('a b c d')
  })
})
