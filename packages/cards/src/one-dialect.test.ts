/** Checks that cards and chat answers are rendered from the same Markdown dialect. */
import { markdownExamples } from '@shoal/core/testing'
import { chatHtml } from '@shoal/web/testing/chat-html'
import { expect, test } from 'vitest'
import { renderCard } from './render-card.ts'

/** Markdown texts, each with the number of formulas in it. */
const formulas: [string, number][] = [
  ['a \\(a^2\\) b', 1],
  ['x $a_1*b*c_2$, ($y$) and **$z$**', 3],
  ['\\[\nx = 1\n+ b\n\\]', 1],
  ['text\n$$\na\n- b\n$$\nmore', 1],
  ['> $$\n> a\n> + b\n> $$\n\nafter', 1],
  ['- item\n  \\[\n  a^2\n  \\]\n- b', 1],
  ['then \\[ x = y \\] and $$x^2$$ and \\(a\nb\\)', 3],
  ['| a | b |\n|---|---|\n| $x^2$ | \\(y\\) |', 2],
  ['# Title $x$', 1],
  ['\\[ x = 1 \\]\r\n\r\n$$y$$\r\n', 2],
  ['$5 and $6', 0],
  ['$5, $6 or 7$ each', 0],
  ['$5-$6 and 10$/month ($120/year), US$ 5, 6$', 0],
  ['$HOME/$USER:$PATH', 0],
  ['Cheap: $$, expensive: $$$$.', 0],
  ['see \\[1\\], \\[note\\] and \\[x\\](y)', 0],
  ['`$x$` \\$5$ \\\\(x\\\\)', 0],
  ['```\n$$\nx\n$$\n```', 0],
  ['$$\n\nx = 1\n\n$$', 0],
  ['unclosed \\(x and $y and $$z = 1', 0],
  ['\\[\nx = 1\n\n# Heading', 0],
  ['> $$\n> x = 1\nlazy\n$$', 0],
  [`$${'x'.repeat(1_100)}$`, 0],
]

/**
 * Removes intended differences: wrapper elements, the markup of code, paragraphs in list items, and links in headings.
 */
function extractStructure(html: string): string {
  const open: string[] = []
  const kept = html
    .replace(/<a class="card-anchor".*?<\/a>/g, '')
    .replace(/<div class="flex items-center.*?<\/div>/gs, '') // the language and the copy button
    .replace(/<\/?code[^>]*>(?=<\/pre>)|(?<=<pre[^>]*>)<code[^>]*>/g, '')
    .replace(
      /<span class="card-\w+">([^<]*)<\/span>(?=[^<]*(<span[^>]*>[^<]*<\/span>[^<]*)*<\/pre>)/g,
      '$1',
    ) // colors
    .replace(/\n(?=<\/pre>)/g, '')
    .replaceAll(/<(\/?)(\w+)([^>]*)>/g, (_, isEnd, name, attributes) => {
      if (['div', 'section', 'thead', 'tbody'].includes(name)) return ''
      const parent = open.at(isEnd ? -2 : -1)
      if (!isEnd && !['br', 'hr', 'input'].includes(name)) open.push(name)
      if (isEnd) open.pop()
      if (name === 'p' && parent === 'li') return ''
      const relevant = [
        ...String(attributes).matchAll(/ (?:(?:href|start)="[^"]*"|checked)/g),
      ].join('')
      return `<${isEnd}${name}${relevant}>`
    })
  return kept.replace(
    /\s*(<\/?(?:p|h\d|ul|ol|li|table|tr|t[hd]|pre|blockquote|hr|input)\b[^>]*>)\s*/g,
    '\n$1\n',
  )
}

/** Decodes escaped characters, and normalizes line breaks except in code blocks. */
const unescaped = (html: string) =>
  html
    .replace(/&#x([0-9a-f]+);/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(
      /&(amp|lt|gt|quot);/g,
      (_, name: 'amp') => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name],
    )
    .replace(/(?<=<code[^>]*>)[^<]*(?=<\/code>(?!<\/pre>))/g, (text) => text.replaceAll('\n', ' '))
    .replace(/<br\/?>\s*/g, '<br>')
    .replaceAll('=""', '')

const normal = (html: string) => unescaped(extractStructure(html)).replace(/\n+/g, '\n').trim()

test.each(markdownExamples)('%s: cards and the chat have the same HTML structure', (_, source) => {
  const card = renderCard(source, { images: false, names: [] })
  expect(normal(chatHtml(source))).toBe(normal(card))
})

test.each(formulas)('%j: cards and the chat have the same formulas', (source, count) => {
  const card = renderCard(source, { images: false, names: [] })
  expect(card.match(/<math/g) ?? []).toHaveLength(count)
  // Until the chat has loaded the math renderer, it shows the source of formulas.
  expect(chatHtml(source).match(/<math|<code class="font-mono/g) ?? []).toHaveLength(count)
  expect(card).not.toContain('language-math')
})
