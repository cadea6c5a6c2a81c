/**
 * Tests the limits on templates. Without them, each of these hostile templates would take hours or exhaust the memory.
 */
import { expect, test } from 'vitest'
import { parseTemplate } from './template.ts'

/** About a tenth of the default limits. */
const limits = { maxSteps: 500_000, maxCharacters: 3 * 1024 * 1024 }

/** Assigns a new value to the variable `ns.a` many times. */
const grow = (start: string, step: string) =>
  `{% set ns = namespace(a=${start}) %}{% for i in range(99) %}{% set ns.a = ${step} %}{% endfor %}`

/** Builds a list that contains a second list twice; the second list contains a third list twice, and so on. */
const tree = grow('[1]', '[ns.a, ns.a]')
const longText = "{% set t = 'a' * 2000000 %}"
const nearlyFound = "('a' * 500000 + 'b' + 'a' * 500000)"
const loop = (body: string, times = 90_000) => `{% for i in range(${times}) %}${body}{% endfor %}`

test.each([
  loop(loop('{{ i }}')),
  loop(loop('')),
  loop('{{ range(90000) | length }}'),
  '{% for i in range(90000) if -1 in range(90000) %}{% endfor %}',
  '{{ range(10000000000) | length }}',
  '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
  '{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(99) }}',

  grow("'ab'", 'ns.a + ns.a'),
  grow("'ab'", 'ns.a ~ ns.a'),
  grow("'a'", "ns.a | replace('a', 'aaaaaaaa')"),
  grow("'a'", "ns.a.replace('a', 'aaaaaaaa')"),
  grow("'{0}'", 'ns.a.format(ns.a ~ ns.a)'),
  grow('[1, 2]', 'ns.a + ns.a'),
  `{% set a = [1] %}${loop('{% set _ = a.extend(a) %}')}`,
  `{% set a = [] %}${loop(loop("{% set _ = a.append({'a': {}, 'b': {}}) %}"))}`,
  `{% set a = {} %}${loop("{% set _ = a.update({i ~ '': 1}) %}{{ a | dictsort | length }}")}`,

  "{{ 'abcdefgh' * 100000000 }}",
  loop("{{ 'abcdefgh' * 100000 }}"),
  "{{ range(90000) | join('x' * 10000) | length }}",
  "{{ 'a' | indent(1000000000) }}",
  "{{ ('a\n' * 90000) | indent(900) }}",
  '{{ [1] | tojson(indent=1000000000) }}',
  "{{ range(90000) | list | tojson(separators=('x' * 10000, 'x')) }}",
  "{% set t = 'a' * 1000000 %}{{ t | replace('', t) }}",
  "{{ ('{0}' * 1000000).format('a' * 1000) }}",
  "{{ ('%s' * 1000000) % range(99999) }}",
  "{{ strftime_now('%F' * 1000000) }}",
  `${longText}{{ t.split('a') | length }}`,
  `${longText}${loop("{% set _ = t.split('b') %}")}`,
  `${longText}{% for c in t %}{% endfor %}`,
  `${longText}{{ t | list | length }}`,

  `${tree}{{ ns.a }}`,
  `${tree}{{ ns.a ~ 'a' }}`,
  `${tree}{{ ns.a | string | length }}`,
  `${tree}{{ ns.a | tojson }}`,
  `${tree}{{ ns.a | tojson(indent=2) }}`,
  `${tree}{{ ns.a | join(',') }}`,
  `${tree}{{ '%s' % ns.a }}`,
  `${tree}{{ '{}'.format(ns.a) }}`,
  `${tree}{{ 'a'.find(ns.a) }}`,
  `${tree}{{ 'a'.removeprefix(ns.a) }}`,
  `${tree}{{ 'a'.replace(ns.a, 'b') }}`,
  `${tree}{{ raise_exception(ns.a) }}`,

  `${longText}{{ ${nearlyFound} in t }}`,
  `${longText}{{ t.find(${nearlyFound}) }}`,
  `${longText}{{ t.split(${nearlyFound}) | length }}`,
  `${longText}{{ t | replace(${nearlyFound}, 'b') | length }}`,
])('%s is stopped', (source) => {
  const startedAt = process.threadCpuUsage()
  const { render } = parseTemplate(source, limits)
  expect(() => render({}, new Date())).toThrow(expect.objectContaining({ code: 'template_limit' }))
  const { user, system } = process.threadCpuUsage(startedAt)
  expect((user + system) / 1e6).toBeLessThan(20) // seconds of processor time
})

test('a list that contains itself cannot be printed', () => {
  const source = '{% set a = [] %}{% set _ = a.append(a) %}{{ a | tojson }}'
  expect(() => parseTemplate(source).render({}, new Date())).toThrow('call stack')
})

test('a long conversation is rendered, even if the template looks back at each message', () => {
  const messages = Array.from({ length: 2000 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: '<think>a</think>'.repeat(200),
  }))
  const source = `{% for m in messages %}{% set rest = messages[loop.index:] %}<{{ m.role }}>{% if '</think>' in m.content %}{{ m.content.split('</think>')[-1] | trim }}{{ m.content[7:] }}{% endif %}{% if rest %}{{ rest[0].role }}{% endif %}{% endfor %}`
  expect(parseTemplate(source).render({ messages }, new Date()).length).toBeGreaterThan(2000 * 3000)
})
