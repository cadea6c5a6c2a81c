/**
 * Markdown that must be rendered in the same way in model cards and in chat responses. Each example has a name and a
 * source, and contains no HTML.
 */
export const markdownExamples: readonly (readonly [name: string, source: string])[] = [
  ['bold in emphasis', '*a **b** c*'],
  ['emphasis in bold', '**a *b* c** ***d***'],
  ['long bold', `**${'word '.repeat(200)}end**`],
  ['emphasis within a word', 'a*b*c, but snake_case_name and 2 * 3 * 4'],
  ['underscores', '_a_ __b__ _a __b__ c_'],
  ['strikethrough', '~~a **b**~~'],
  ['code', '`` a `b` `` `c\nd`'],
  ['escapes', '\\*a\\* \\`b\\` \\[c]'],
  ['entities', 'AT&amp;T &copy; &#35; &lt;b&gt; & co'],
  ['line breaks', 'a  \nb\\\nc\nd'],
  ['setext headings', 'One\n===\n\nTwo\n---\n\ntext'],
  ['headings', '# a\n## b ##\n### c\n#hash'],
  ['indented code', 'a\n\n    b\n      c\n\n    d\n\ne'],
  ['fenced code', '```ts x\na\n\n*b*\n```\n\n~~~\n```\n~~~'],
  ['an open fence', 'a\n```\nb\n\n**c**'],
  ['lazy quotes', '> a\nb\n> c\n\nd'],
  ['nested quotes', '> a\n> > b\n>\n> c'],
  ['a list after text', 'text\n- a\n- b\n\ntext'],
  ['nested lists', '3. a\n   - b\n   - c\n\n4. d'],
  ['lists of two kinds', '- a\n- b\n* c\n1. d\n2) e'],
  ['code in a list', '1. a\n   ```sh\n   ls\n   ```\n2. b\n\n       c\n\n   d'],
  ['items apart', '- a\n\n- b\n\n\n- c\n  d\ne\n- f'],
  ['tasks', '- [x] a\n- [ ] b\n- c'],
  ['rules', 'a\n\n---\n\n* * *\n- - -\n\nb'],
  ['tables', '| a | b |\n|:-:|--:|\n| 1 | x \\| y |\n| **2** |\n| 3 | 4 | 5 |\nlast'],
  ['links', '[a](https://a.example/x_(y) "t") [b](<https://b.example/c_d>)'],
  ['addresses', '<https://a.example> https://b.example/c. www.c.example <d@e.example>'],
  [
    'links that refer to a definition',
    '[a][b], [b] and [c]\n\n- [b]\n\n[b]: https://b.example "t"\n\n[B][]',
  ],
]
