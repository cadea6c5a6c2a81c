import { markdownExamples, randomFrom } from '@shoal/core/testing'
import { describe, expect, test } from 'vitest'
import { runsSlowTests } from '../../../../../testing/slow.ts'
import { type Node, parseMarkdown } from './parse.ts'
import { markdownReader } from './read-markdown.ts'
import { splitBlocks } from './split-blocks.ts'
import { chatHtml } from './testing/chat-html.ts'

/** Renders Markdown as HTML without classes and `div` elements, which are only for styling. */
const toHtml = (source: string) =>
  chatHtml(source)
    .replace(/ class="[^"]*"/g, '')
    .replace(/<\/?div>/g, '')

describe('Markdown from models', () => {
  test('inline markup in paragraphs is rendered', () => {
    expect(toHtml('One **two** *three* _four_ ~~five~~ `six <b>`\\*\nseven  \neight')).toBe(
      '<p>One <strong>two</strong> <em>three</em> <em>four</em> <del>five</del> <code>six &lt;b&gt;</code>*\nseven<br/>eight</p>',
    )
  })

  test('inline markup can be nested, and is not recognized inside names and formulas', () => {
    expect(toHtml('**a *b* c** ***d***')).toBe(
      '<p><strong>a <em>b</em> c</strong> <em><strong>d</strong></em></p>',
    )
    expect(toHtml('*a **b** c*')).toBe('<p><em>a <strong>b</strong> c</em></p>')
    expect(toHtml('snake_case_name 2 * 3 * 4')).toBe('<p>snake_case_name 2 * 3 * 4</p>')
    const long = 'word '.repeat(200)
    expect(toHtml(`**${long}end**`)).toBe(`<p><strong>${long}end</strong></p>`)
  })

  test('entities are decoded, and URLs in angle brackets become links', () => {
    expect(toHtml('AT&amp;T &copy; &lt;b&gt;')).toBe('<p>AT&amp;T © &lt;b&gt;</p>')
    expect(toHtml('<https://a.example>')).toContain('<a href="https://a.example"')
    expect(toHtml('<a@b.example>')).toContain('<a href="mailto:a@b.example"')
  })

  test('task lists have disabled checkboxes', () => {
    expect(toHtml('- [x] a\n- [ ] b')).toBe(
      '<ul><li><input type="checkbox" disabled="" aria-label="Done" checked=""/><p>a</p></li>' +
        '<li><input type="checkbox" disabled="" aria-label="Not done"/><p>b</p></li></ul>',
    )
  })

  test("headings have levels below those of the page's own headings", () => {
    expect(toHtml('# One\n## Two ##\n\n#hash')).toBe('<h3>One</h3><h4>Two</h4><p>#hash</p>')
    expect(toHtml('## One\n\ntext\n\n#### Two\n\n> # Three')).toBe(
      '<h3>One</h3><p>text</p><h4>Two</h4><blockquote><h3>Three</h3></blockquote>',
    )
    expect(toHtml('One\n===\nTwo\n---')).toBe('<h3>One</h3><h4>Two</h4>')
  })

  test('lists can be nested, and numbered lists can start with any number', () => {
    expect(toHtml('3. a\n   - b\n   - c\n\n4. d')).toBe(
      '<ol start="3"><li><p>a</p><ul><li><p>b</p></li><li><p>c</p></li></ul></li><li><p>d</p></li></ol>',
    )
    expect(toHtml('- a\n  goes on\n- b')).toBe(
      '<ul><li><p>a\ngoes on</p></li><li><p>b</p></li></ul>',
    )
    expect(toHtml('It was in\n1984. Then')).toBe('<p>It was in\n1984. Then</p>')
  })

  test('code is unchanged, even before its fence is closed', () => {
    expect(parseMarkdown('```ts\nconst a = `b`\n\n**not bold**')).toMatchObject([
      { type: 'code', lang: 'ts', value: 'const a = `b`\n\n**not bold**' },
    ])
    expect(parseMarkdown('~~~\n```\n~~~\nafter')).toMatchObject([
      { type: 'code', lang: null, value: '```' },
      { type: 'paragraph' },
    ])
    expect(parseMarkdown('    a\n\n      b')).toMatchObject([{ type: 'code', value: 'a\n\n  b' }])
  })

  test('a list item can contain code', () => {
    const code = { type: 'code', lang: 'sh', value: 'ls' }
    expect(parseMarkdown('1. Run\n   ```sh\n   ls\n   ```\n2. Done')).toMatchObject([
      { type: 'list', children: [{ children: [{}, code] }, { children: [{}] }] },
    ])
  })

  test('tables, quotes and horizontal rules are recognized', () => {
    expect(toHtml('| a | b |\n|---|:-:|\n| 1 | x \\| y |\n| 2 |')).toContain(
      '<tr><td>1</td><td>x | y</td></tr><tr><td>2</td><td></td></tr>',
    )
    expect(parseMarkdown('|a|b|c|d|\n|-|:-|:-:|-:|\n|1|2|3|4|')).toMatchObject([
      { type: 'table', align: [null, 'left', 'center', 'right'] },
    ])
    expect(toHtml('> a\nb')).toBe('<blockquote><p>a\nb</p></blockquote>')
    expect(toHtml('> a\n> b\n\n---')).toBe('<blockquote><p>a\nb</p></blockquote><hr/>')
    expect(toHtml('a | b is no table')).toBe('<p>a | b is no table</p>')
  })

  test('links and bare URLs become links', () => {
    const rel = 'target="_blank" rel="nofollow ugc noopener noreferrer"'
    expect(toHtml('[a](https://a.example/x_(y) "title"), https://b.example/c.')).toBe(
      `<p><a href="https://a.example/x_(y)" ${rel}>a</a>, <a href="https://b.example/c" ${rel}>https://b.example/c</a>.</p>`,
    )
  })
})

describe('hostile Markdown', () => {
  test('HTML is shown as text', () => {
    const html = toHtml('<img src=x onerror=alert(1)><script>alert(1)</script>')
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
  ])('%s does not become a link', (address) => {
    expect(toHtml(`[click](${address})`)).not.toContain('<a')
    expect(toHtml(`[click](<${address}>)`)).not.toContain('<a')
  })

  test('images become links, so that nothing is loaded without a click', () => {
    const html = toHtml('![fish](https://evil.example/pixel.png)')
    expect(html).not.toContain('<img')
    expect(html).toContain('>fish</a>')
  })

  const long = 100_000
  test.each([
    ['quotes', '>'.repeat(long)],
    ['brackets', '['.repeat(long)],
    ['lists in lists', Array.from({ length: 500 }, (_, i) => `${'  '.repeat(i)}- a`).join('\n')],
    ['numbers', '1. '.repeat(long)],
  ])('deeply nested %s are shown as plain text', (_, source) => {
    expect(parseMarkdown(source)).toEqual([{ type: 'code', value: source }])
  })

  test.each([
    ['unclosed bold markers', '**a ', /^(\*\*a ?)+$/],
    ['mixed emphasis markers', '*a_ ', /^(\*a_ ?)+$/],
    ['unclosed links', '[a](', /^(\[a\]\()+$/],
    ['references', '[a] ', /^(\[a\] ?)+$/],
    ['unmatched backticks', '` `` ', /^(` `` ?)+$/],
    ['tildes', '~~a ', /^(~~a ?)+$/],
    ['unclosed email addresses', '<a@', /^(<a@)+$/],
  ])('thousands of %s are shown as text', (_, part, text) => {
    const [node] = parseMarkdown(part.repeat(long / 4))
    expect(node).toMatchObject({ type: 'paragraph', children: [{ type: 'text' }] })
    const [child] = node?.type === 'paragraph' ? node.children : []
    expect(child?.type === 'text' && child.value).toMatch(text)
  })

  test('code may contain any number of markers, and does not affect the text before it', () => {
    const code = '*a[0] = b_c\n'.repeat(1000)
    expect(parseMarkdown(`**a**\n\n\`\`\`\n${code}\`\`\``)).toMatchObject([
      { type: 'paragraph' },
      { type: 'code', value: code.trim() },
    ])
  })

  test.each([
    ['stars', '*'.repeat(long)],
    ['backticks', '`'.repeat(long)],
    ['backslashes', '\\'.repeat(long)],
    ['pipes', `${'|'.repeat(long)}\n${'|-'.repeat(long)}`],
    ['URLs', 'https://'.repeat(long / 8)],
    ['fences', '```\n'.repeat(long / 100)],
    ['loose list items', '- a\n\n\n\n\n'.repeat(long / 100)],
    ['empty lines', '\n'.repeat(long)],
    ['spaces', `${' '.repeat(long)}x`],
  ])('the HTML for 1,000 or more %s is less than 100 times as long as the source', (_, source) => {
    expect(toHtml(source).length).toBeLessThan(100 * source.length)
  })
})

describe('an answer being received', () => {
  const listSources = (source: string) => splitBlocks(source).map((chunk) => chunk.source)

  test('is split where later text cannot change the meaning of earlier text', () => {
    const source = '# A\n\nb\nc\n\n- d\n\n- e\n\n  f\n\ng\n\n```\nh\n\ni\n```\n\nj'
    expect(listSources(source)).toEqual([
      '# A\n\n',
      'b\nc\n\n',
      '- d\n\n',
      '- e\n\n  f\n\n',
      'g\n\n',
      '```\nh\n\ni\n```\n\n',
      'j',
    ])
  })

  test.each(markdownExamples)('%s: each prefix is parsed like a complete answer', (_, source) => {
    const read = markdownReader()
    for (let length = 0; length <= source.length; length += source.length > 500 ? 97 : 1) {
      const beginning = source.slice(0, length)
      expect(bare(read(beginning))).toEqual(bare(parseMarkdown(beginning)))
    }
  })

  test('has the same structure whether it is parsed in chunks or in one piece (random lines)', () => {
    const { oneOf, between } = randomFrom(1)
    // Indented code is not tested: after it, the parser treats a list that begins with 2 as text, contrary to the
    // specification.
    const lines = [
      ...['', '', '', 'a', 'b *c*', '# d', '- e', '- f', '* g', '1. h', '2. i', '3) j', '-', '+ k'],
      ...[
        '  l',
        '   m',
        '> p',
        '>',
        '```',
        '```ts',
        '   ```',
        '~~~',
        '- ```',
        '---',
        '===',
        '* * *',
      ],
      ...['| q | r |', '|-|-|', '- [x] s', '  - t', ' - u', '   1. v', '> - w', '- > bb', '10. aa'],
      ...['[x2]: https://x.example', '[x2] [^y]', '[^y]: z', '  ', 'a  ', '\\'],
    ]
    for (let round = 0; round < (runsSlowTests ? 1500 : 300); round += 1) {
      const source = Array.from({ length: between(2, 12) }, () => oneOf(lines)).join('\n')
      const [read, parsed] = [markdownReader()(source), parseMarkdown(source)]
      expect([source, bare(read)]).toEqual([source, bare(parsed)])
    }
  })

  test('reuses the parsed nodes before its last paragraph or list item', () => {
    const read = markdownReader()
    const [first, list, second] = read('**a**\n\n- b\n- c\n\nd')
    const [firstLater, listLater, secondLater] = read('**a**\n\n- b\n- c\n\nd and more')
    expect(firstLater).toBe(first)
    expect(getItems(listLater)).toHaveLength(2)
    expect(getItems(listLater).map((item, at) => item === getItems(list)[at])).toEqual([true, true])
    expect(secondLater).not.toBe(second)
  })

  test('uses a later definition to resolve earlier links', () => {
    const [first] = markdownReader()('[a][b] and [b]\n\ntext\n\n[b]: https://b.example')
    expect(first).toMatchObject({ children: [{ type: 'link' }, {}, { type: 'link' }] })
  })
})

const getItems = (node: Node | undefined) => (node?.type === 'list' ? node.children : [])

/**
 * Removes what cannot be determined from a single chunk: positions, whether a list is loose, and empty lines at the end
 * of an unclosed code block.
 */
function bare(nodes: readonly Node[]): unknown {
  const known = (key: string, value: unknown) => {
    if (key === 'position' || key === 'spread') return undefined
    return typeof value === 'string' ? value.trimEnd() : value
  }
  return JSON.parse(JSON.stringify(nodes, known))
}

describe('hostile formulas are parsed within seconds', () => {
  test.each(['\\[a\n', '$$a\n', '$a ', '\\(a ', '$$a ', '$a$', '$$a$$ '])('%j', (part) => {
    const nodes = parseMarkdown(part.repeat(20_000))
    expect(nodes.length).toBeGreaterThan(0)
  })
})
