/** Checks that cards and chat answers are rendered from the same Markdown dialect. */
import { markdownExamples } from '@shoal/core/testing'
import { chatHtml } from '@shoal/web/testing/chat-html'
import { expect, test } from 'vitest'
import { renderCard } from './render-card.ts'

/**
 * Removes intended differences: wrapper elements, the markup of code, paragraphs in list items, and links in headings.
 */
function extractStructure(html: string): string {
  const open: string[] = []
  const kept = html
    .replace(/<a class="card-anchor".*?<\/a>/g, '')
    .replace(/<div class="flex items-center.*?<\/div>/gs, '') // the language and the copy button
    .replace(/<\/?code[^>]*>(?=<\/pre>)|(?<=<pre[^>]*>)<code[^>]*>/g, '')
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
