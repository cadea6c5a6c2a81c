import { expect, test } from 'vitest'
import { renderMath } from './render-math.ts'

test('a formula is rendered as MathML without a copy of its source', () => {
  expect(renderMath('a^2', false)).toBe(
    '<math><mrow><msup><mi>a</mi><mn>2</mn></msup></mrow></math>',
  )
  expect(renderMath('x', true)).toContain('<math display="block">')
  expect(renderMath(String.raw`\text{<b> "c"}`, false)).toContain('&lt;b&gt;')
})

test.each([
  String.raw`\frac{1}{2} + \sqrt[3]{x} = \sum_{i=0}^n \binom{n}{i}`,
  String.raw`\begin{pmatrix} a & b \\ c & d \end{pmatrix} \cdot \vec{v}`,
  String.raw`\begin{aligned} a &= b \\ &= c \end{aligned}`,
  String.raw`f(x) = \begin{cases} 1 & x > 0 \\ 0 & \text{otherwise} \end{cases}`,
  String.raw`\mathbb{E}\left[\,\underbrace{x}_{y}\,\right] \iff \hat\theta \in \mathcal{O}(n \log n)`,
  String.raw`\boxed{E = mc^2} \tag{1}`,
])('%s can be rendered', (tex) => {
  expect(renderMath(tex, true)).toMatch(/^<math display="block">.*<\/math>$/)
})

test.each([
  ['is invalid', String.raw`\frac{1}`],
  ['is cut off', '{{{'],
  ['is too long', 'x'.repeat(4_001)],
  ['is too deep', `${'{'.repeat(1_900)}${'}'.repeat(1_900)}${String.raw`\sqrt{`.repeat(30)}`],
  ['nests too many elements', `${String.raw`\sqrt{`.repeat(300)}x${'}'.repeat(300)}`],
  ['defines macros', String.raw`\def\a{xx}\a\a`],
  ['defines macros by another name', String.raw`\newcommand{\a}{x}\a`],
  ['expands endlessly', String.raw`\let\a\a\a`],
  ['uses an unknown environment', String.raw`\begin{lstlisting}x\end{lstlisting}`],
])('a formula that %s is not rendered', (_, tex) => {
  expect(renderMath(tex, false)).toBeUndefined()
})

test.each([
  String.raw`\href{javascript:alert(1)}{x}`,
  String.raw`\url{https://a.example}`,
  String.raw`\includegraphics{https://a.example/b.png}`,
  String.raw`\htmlStyle{position:fixed}{x}`,
  String.raw`\htmlId{card-a}{x} \htmlClass{a}{x} \htmlData{a=b}{x}`,
  String.raw`\text{<img src=x onerror=alert(1)>}`,
  String.raw`\color{red}{x} \colorbox{#f00}{x} \fcolorbox{red}{blue}{x}`,
])('%s adds no links, images, styles, colors or attributes', (tex) => {
  const html = renderMath(tex, false) ?? ''
  const tags = html.match(/<[^>]*>/g) ?? []
  for (const tag of tags) expect(tag).toMatch(/^<\/?m[a-z]+( [a-z]+="[^":;]*")*>$/)
  expect(html).not.toMatch(/ (href|src|style|class|id|mathcolor|mathbackground)=/)
})

test('sizes are limited, so that a formula cannot cover the page', () => {
  const html = [
    String.raw`\rule{500em}{500em}`,
    String.raw`\hspace{-500em}x\kern900em y`,
    String.raw`\raisebox{-500em}{x}`,
    String.raw`x\\[500em]y`,
  ].map((tex) => renderMath(tex, true) ?? '')
  for (const [, number] of html.join('').matchAll(/="([+-]?[\d.]+)em"/g)) {
    expect(Math.abs(Number(number))).toBeLessThanOrEqual(20)
  }
})

test('a formula of the maximum length has MathML of limited length', () => {
  for (const part of [String.raw`\iff `, String.raw`\TeX `, String.raw`\sqrt x`, '&\\\\', "x'_1"]) {
    const tex = part.repeat(4_000 / part.length)
    const html = renderMath(
      part.includes('&') ? String.raw`\begin{matrix}${tex.slice(0, 3_900)}\end{matrix}` : tex,
      true,
    )
    expect((html ?? '').length).toBeLessThan(600_000)
  }
})
