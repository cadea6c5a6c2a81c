import { expect, test } from 'vitest'
import { parseTemplate } from './template.ts'
import { ParsedJson } from './values.ts'

const now = new Date(2026, 0, 2, 3, 4, 5)
const render = (source: string, variables: Record<string, unknown> = {}) =>
  parseTemplate(source).render(variables, now)

test.each([
  // filters
  ['{{ 5 | string + "!" }}', '5!'],
  ['{{ [1, "a", none, true] | string }}', "[1, 'a', None, True]"],
  ['{{ {"a": "it\'s"} }}', `{'a': "it's"}`],
  ['{{ [3, 1, 2] | min }}{{ [3, 1, 2] | max }}', '13'],
  ['{{ "abc" | count }}', '3'],
  // undefined values are empty
  ['{% for x in nothing %}x{% endfor %}.', '.'],
  ['{{ nothing | length }}{{ nothing | trim }}{{ nothing | list }}', '0[]'],
  ['{{ "a" + nothing }}{{ nothing ~ "b" }}', 'ab'],
  ['{{ nothing.member.deeper is defined }}', 'False'],
  ['{{ nothing[0] is defined }}{{ none[0] is defined }}', 'FalseFalse'],
  ['{% if nothing < 1 %}less{% else %}not{% endif %}', 'not'],
  ['{{ "a" in nothing }}', 'False'],
  ['{{ none | selectattr("x") | list | length }}', '0'],
  ['{{ nothing is iterable }}{{ 5 is iterable }}{{ [] is iterable }}', 'TrueFalseTrue'],
  // keys and tuples
  ['{% set levels = {0: "none", 512: "some"} %}{{ levels[512] }}', 'some'],
  ['{% for k, v in {10: "b", 9: "a"} | dictsort %}{{ k + 1 }}{{ v }} {% endfor %}', '10a 11b '],
  ['{% for a, b in [(1, 2), (3, 4)] %}{{ a }}{{ b }}{% endfor %}', '1234'],
  ['{% set a, b = (1, 2) %}{{ a }}{{ b }}', '12'],
  ['{% for c in "abc" %}{{ c }}-{% endfor %}', 'a-b-c-'],
  // methods
  ['{% set ids = ["a", "b"] %}{{ ids.pop(0) }}{{ ids.pop() }}{{ ids | length }}', 'ab0'],
  [
    '{% set ids = [] %}{% set _ = ids.append(1) %}{% set _ = ids.extend([2, 3]) %}{{ ids }}',
    '[1, 2, 3]',
  ],
  ['{{ "<{}|{}>".format("a", 1) }}{{ "{{}}".format() }}', '<a|1>{}'],
  ['{{ "%s of %d" % ("one", 2) }}', 'one of 2'],
  ['{{ "abcabc".find("c") }}{{ "abcabc".rfind("c") }}{{ "abcabc".count("bc") }}', '252'],
  ['{{ "prefix-x".removeprefix("prefix-") }}{{ "x.txt".removesuffix(".txt") }}', 'xx'],
  ['{{ "42".isdigit() }}{{ "4a".isdigit() }}', 'TrueFalse'],
  ['{% set d = {"a": 1} %}{% set _ = d.update({"b": 2}) %}{{ d.pop("a") }}{{ d }}', "1{'b': 2}"],
  [
    '{% set d = {"items": 5} %}{{ d["items"] }}{% for k, v in d.items() %}{{ k }}{% endfor %}',
    '5items',
  ],
  ['{{ "ab" * 3 }}', 'ababab'],
  // time
  ['{{ strftime_now("%Y-%m-%d %H:%M:%S") }}', '2026-01-02 03:04:05'],
  [
    '{{ strftime_now("%A %d %B, %b %-d, %j, %I %p, 100%%") }}',
    'Friday 02 January, Jan 2, 002, 03 AM, 100%',
  ],
])('%s is rendered as %s', (source, expected) => {
  expect(render(source)).toBe(expected)
})

test('an object that was parsed from JSON is printed as its text, and can be used as an object', () => {
  const args = new ParsedJson('{"a":1}', { a: 1 })
  const source = '{{ args }}|{{ ">" + args }}|{{ args.a }}|{{ args | tojson }}'
  expect(render(source, { args })).toBe('{"a":1}|>{"a":1}|1|{"a": 1}')
})

test.each([
  ["{{ raise_exception('no images') }}", 'no images'],
  ['{{ nothing() }}', 'calls nothing, which does not exist'],
  ['{{ "a".shout() }}', 'calls a method that does not exist'],
  ['{{ 1 | no_such_filter }}', 'no_such_filter'],
])('%s fails with an explanation', (source, words) => {
  expect(() => render(source)).toThrow(words)
})
