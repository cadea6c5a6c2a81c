import { expect, test } from 'vitest'
import { slowTest } from '../../../testing/slow-test.ts'
import { renderCard } from './render-card.ts'
import type { CardOptions } from './shape-card.ts'

const rendered = (markdown: string, options: Partial<CardOptions> = {}) =>
  renderCard(markdown, { images: false, names: [], ...options })

test('heading levels begin below those of the page and are not skipped, whatever levels the author uses', () => {
  const levels = (markdown: string) =>
    [...rendered(markdown).matchAll(/<(h\d) [^>]*>(\w+)/g)].map(
      ([, level, text]) => `${level}${text}`,
    )
  expect(levels('# A\n## B\n### C\n## D\n# E')).toEqual(['h3A', 'h4B', 'h5C', 'h4D', 'h3E'])
  expect(levels('## A\n### B')).toEqual(['h3A', 'h4B'])
  expect(levels('# A\n#### B\n## C')).toEqual(['h3A', 'h4B', 'h4C'])
  expect(levels('# A\n## B\n### C\n#### D\n##### E\n###### F').at(-1)).toBe('h6F')
})

test('a heading has the same ID as on GitHub, with a prefix, and a link to itself', () => {
  expect(rendered('## Use with `llama.cpp`, *now*!')).toBe(
    '<h3 id="card-use-with-llamacpp-now" aria-label="Use with llama.cpp, now!">Use with <code>llama.cpp</code>, <em>now</em>!' +
      '<a class="card-anchor" href="#card-use-with-llamacpp-now" aria-label="Link to Use with llama.cpp, now!">#</a></h3>',
  )
  expect(rendered('<details><summary><h2>More</h2></summary></details>')).toBe(
    '<details><summary><h3 id="card-more">More</h3></summary></details>',
  )
  const ids = [...rendered('# Ü 模型\n# A\n# A\n# A-1\n# ⚡').matchAll(/ id="([^"]+)"/g)]
  expect(ids.map(([, id]) => id)).toEqual([
    'card-ü-模型',
    'card-a',
    'card-a-1',
    'card-a-1-1',
    'card-section',
  ])
})

test("a link to one of the card's headings is changed to the heading's ID", () => {
  expect(rendered('[use](#usage)\n# Usage')).toContain('<a href="#card-usage">use</a>')
})

test("a title that repeats the model's name is removed", () => {
  const names = ['Llama Tide 8B', 'tide']
  expect(rendered('# llama-tide-8b\n## Use', { names })).toMatch(
    /^\n<h3 id="card-use" aria-label="Use">/,
  )
  expect(rendered('<h1 align="center">TIDE</h1>\n\ntext', { names })).not.toContain('TIDE')
  expect(rendered('# Llama Tide 8B, a model', { names })).toContain('a model')
  expect(rendered('## tide', { names })).toContain('<h3 id="card-tide" aria-label="tide">')
  expect(rendered('# Other\n# tide', { names })).toContain('<h3 id="card-tide" aria-label="tide">')
})

test('links to web pages, relative paths and email addresses work, and are marked as nofollow', () => {
  const rel = 'rel="nofollow ugc noopener"'
  expect(rendered('[a](https://a.example/?q=1&r=2 "why")')).toBe(
    `<p><a href="https://a.example/?q=1&#x26;r=2" title="why" ${rel}>a</a></p>`,
  )
  expect(rendered('[a](mailto:a@b.example) [b](LICENSE)')).toBe(
    `<p><a href="mailto:a@b.example" ${rel}>a</a> <a href="LICENSE" ${rel}>b</a></p>`,
  )
  expect(rendered('see www.a.example or https://b.example')).toBe(
    `<p>see <a href="http://www.a.example" ${rel}>www.a.example</a> or <a href="https://b.example" ${rel}>https://b.example</a></p>`,
  )
  expect(rendered('[](https://a.example)')).toContain('aria-label="https://a.example"')
})

test('front matter is not shown, but a horizontal rule at the start is', () => {
  expect(rendered('---\nlicense: mit\ntags:\n- chat\n---\n\nText')).toBe('<p>Text</p>')
  expect(rendered('\uFEFF---\r\n# see the docs\r\nlicense: mit\r\n---\r\nText')).toBe('<p>Text</p>')
  expect(rendered('---\n---\nText')).toBe('<p>Text</p>')
  expect(rendered('---\n\nText: long\n\n---')).toContain('Text: long')
  expect(rendered('---\nlicense: mit')).toContain('license: mit')
})

test('a table has an accessible name and its own scrollbar, and can be scrolled with the keyboard', () => {
  const html = rendered('| a | b |\n|:-:|--|\n| 1 | 2 |\n\n| c |\n|---|\n')
  expect(html).toContain(
    '<div class="card-table" role="region" aria-label="Table 1" tabindex="0"><table>',
  )
  expect(html).toContain('aria-label="Table 2"')
  expect(html).toContain('<td align="center">1</td>')
})

test('a code block shows its language, if specified, and can be scrolled with the keyboard', () => {
  expect(rendered('```python title="x"\nprint(1 < 2)\n```')).toBe(
    '<pre data-language="python" tabindex="0"><code><span class="card-name">print</span>(<span class="card-number">1</span> &#x3C; <span class="card-number">2</span>)\n</code></pre>',
  )
  expect(rendered('    indented')).toBe('<pre tabindex="0"><code>indented\n</code></pre>')
  expect(rendered('```c++\nx\n```')).toContain('data-language="c++"')
  expect(rendered('```a"b<c\nx\n```')).toContain('<pre tabindex="0">')
})

test('code is colored if its language is known', () => {
  const codeOf = (markdown: string) => /<code>(.*)<\/code>/s.exec(rendered(markdown))?.[1]
  expect(codeOf('```sh\nshoal run "tide" # now\n```')).toBe(
    'shoal run <span class="card-string">"tide"</span> <span class="card-comment"># now</span>\n',
  )
  expect(codeOf('```JSON\n{"a": null}\n```')).toBe(
    '{<span class="card-name">"a"</span>: <span class="card-keyword">null</span>}\n',
  )
  expect(codeOf('```diff\n-a\n+b\n```')).toBe(
    '<span class="card-deleted">-a</span>\n<span class="card-string">+b</span>\n',
  )
  expect(codeOf('```none\nif 1: "a"\n```')).toBe('if 1: "a"\n')
  expect(codeOf('<pre><code class="language-js">if (<em>a</em>) 1</code></pre>')).toBe(
    'if (<em>a</em>) 1',
  )
})

slowTest('long, deeply nested and very many code blocks stay without colors', () => {
  const block = (code: string) => rendered(`\`\`\`js\n${code}\n\`\`\``)
  expect(block('1\n'.repeat(4_000))).toContain('<span')
  expect(block('1\n'.repeat(6_000))).not.toContain('<span')
  expect(block('`${'.repeat(20))).toContain('<span')
  expect(block('`${'.repeat(3_000))).not.toContain('<span')
  const many = rendered(`\`\`\`js\n${'1\n'.repeat(4_000)}\n\`\`\`\n\n`.repeat(20))
  expect(many.split('<pre')).toHaveLength(21)
  expect(many.split('<span class="card-number">').length - 1).toBeLessThanOrEqual(50_000)
})

test('task lists, strikethrough and footnotes work as on GitHub', () => {
  expect(rendered('- [x] one\n- [ ] two')).toBe(
    '<ul>\n<li class="card-task"><input type="checkbox" checked disabled aria-label="Done"> one</li>\n' +
      '<li class="card-task"><input type="checkbox" disabled aria-label="Not done"> two</li>\n</ul>',
  )
  expect(rendered('- [ ] loose\n\n- b')).toContain('<li class="card-task">\n<p><input')
  expect(rendered('~~gone~~')).toBe('<p><del>gone</del></p>')
  const html = rendered('Text[^n].\n\n[^n]: A note.')
  expect(html).toContain(
    '<sup><a href="#card-note-fn-n" id="card-note-fnref-n" data-footnote-ref="">1</a></sup>',
  )
  expect(html).toContain(
    '<section data-footnotes=""><h3 id="card-footnotes" aria-label="Footnotes">Footnotes',
  )
  expect(html).toContain('<li id="card-note-fn-n">')
  expect(html).toContain(
    '<a href="#card-note-fnref-n" data-footnote-backref="" aria-label="Back to reference">↩</a>',
  )
})

test('an image is not loaded unless requested: its text and URL are shown instead', () => {
  expect(rendered('![A *chart*](https://a.example/c.png "t")')).toBe(
    '<p><span class="card-image" data-src="https://a.example/c.png">A chart</span></p>',
  )
  expect(rendered('![](//a.example/c.png)')).toBe(
    '<p><span class="card-image" data-src="https://a.example/c.png">image</span></p>',
  )
  expect(rendered('[![build](https://a.example/b.svg)](https://a.example)')).toContain(
    '<a href="https://a.example" rel="nofollow ugc noopener"><span class="card-image"',
  )
})

test('requested images are loaded lazily and without a referrer', () => {
  expect(rendered('<img src="https://a.example/c.png" width="400">', { images: true })).toBe(
    '<img src="https://a.example/c.png" alt="" width="400" loading="lazy" decoding="async" referrerpolicy="no-referrer">',
  )
})

test.each(['chart.png', '/v1/auth/logout', '../chart.png', ''])(
  'an image at %s is never loaded, because a card has no other files',
  (src) => {
    expect(rendered(`![chart](<${src}>)`, { images: true })).toBe(
      '<p><span class="card-image">chart</span></p>',
    )
  },
)

test('HTML that is common in cards is preserved', () => {
  const html =
    '<details open><summary>More</summary>\n<p align="center">Press <kbd>x</kbd>, H<sub>2</sub>O, m<sup>2</sup><br>next</p></details>'
  expect(rendered(html)).toBe(html)
  expect(rendered('<div align="center">\n\n**bold**\n\n</div>')).toBe(
    '<div align="center">\n<p><strong>bold</strong></p>\n</div>',
  )
  expect(rendered('<p dir="rtl" lang="ar">نص</p>')).toBe('<p dir="rtl" lang="ar">نص</p>')
  expect(rendered('<table><tr><td colspan="2">x</td></tr></table>')).toContain('colspan="2"')
})

test('markup nested too deeply is refused', () => {
  for (const markdown of [
    '> '.repeat(60),
    '- '.repeat(60),
    '1. '.repeat(60),
    Array.from({ length: 120 }, (_, depth) => `${' '.repeat(2 * depth)}- a`).join('\n'),
    '['.repeat(1_001),
    '<div>'.repeat(200),
    '<b>'.repeat(200),
    '<table><td>'.repeat(50),
  ]) {
    expect(() => rendered(markdown)).toThrow('nested too deep')
  }
  const code = `\`\`\`\n${' '.repeat(120)}x\n${'[1]'.repeat(2_000)}\n\`\`\``
  expect(rendered(`${'> '.repeat(20)}deep\n\n${code}`)).toContain('deep')
})

test('formulas become MathML, and invalid ones stay as source', () => {
  const squared = '<math><mrow><msup><mi>a</mi><mn>2</mn></msup></mrow></math>'
  expect(rendered('The area \\(a^2\\) or $a^2$.')).toBe(`<p>The area ${squared} or ${squared}.</p>`)
  const block =
    /^<div class="card-math" role="group" aria-label="Formula" tabindex="0"><math display="block">/
  expect(rendered('$$\na^2\n$$')).toMatch(block)
  expect(rendered('```math\na^2\n```')).toMatch(block)
  expect(rendered('so $\\frac{1}$ is')).toBe('<p>so <code>\\frac{1}</code> is</p>')
  expect(rendered('$$\\frac{1}$$')).toBe(
    '<pre data-language="math" tabindex="0"><code>\\frac{1}</code></pre>',
  )
})

test('formulas do not make HTML from authors unsafe', () => {
  const html = rendered(
    '<code class="language-math">\\href{javascript:a}{x}</code> <math><mi href="javascript:a">x</mi></math> $\\text{<img src=x>}$ <b>$x</b>$',
  )
  expect(html).not.toMatch(/<img|href=/)
})
