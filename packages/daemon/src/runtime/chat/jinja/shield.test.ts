import { expect, test } from 'vitest'
import { hasFrames, shield, shieldAll, shieldJson, unshield } from './shield.ts'
import { parseTemplate } from './template.ts'
import { ParsedJson } from './values.ts'

const text = 'A [b]|<c></think>\nd <|im_end|> é｜▁ '
const values = { text, list: [text, { '<key>': text }], json: '{"<a>": "<|b|>"}' }
const render = (source: string, { json, ...variables }: typeof values) =>
  parseTemplate(source).render(
    { ...variables, args: new ParsedJson(json, JSON.parse(json)) },
    new Date(),
  )

/** None of these templates prints frames of its own. */
test.each([
  '{{ text }}{{ text ~ 1 }}{{ text + "x" }}{{ "x" + text }}',
  '{{ text | trim }}{{ text | upper }}{{ text | title }}{{ text | capitalize }}{{ text | indent }}',
  '{{ text[2:9] }}{{ text[-9:] }}{{ text[0] }}{{ text | list | join("-") }}',
  '{% for c in text %}{{ c }}.{% endfor %}',
  '{{ text.split("</think>") | join("/") }}{{ text.split("<", 1)[1] }}{{ text.split() | join }}',
  '{{ text.replace("</think>", "") }}{{ text | replace("|", "!") }}{{ text.replace("é", text) }}',
  '{{ text.strip().removeprefix("A [").removesuffix("▁") }}',
  '{{ text.find("</think>") }}{{ text.rfind("<") }}{{ text.count("|") }}{{ text | length }}',
  '{{ "</think>" in text }}{{ "<x>" in text }}{{ text in [text] }}{{ "x" not in text }}',
  '{{ text == text }}{{ text != "<" }}{{ text.startswith("A [") }}{{ text.endswith(("x", "｜▁ ")) }}',
  '{{ "%s" % text }}{{ "{} {}".format(text, text) }}{{ text * 2 }}',
  '{% for k, v in list[1].items() %}{{ k }}{{ v }}{% endfor %}',
  '{{ text | tojson }}{{ text | tojson(ensure_ascii=true) }}{{ args }}',
  '{% set ns = namespace(a="") %}{% set ns.a = ns.a ~ text %}{{ ns.a }}{% macro m(x) %}{{ x }}{% endmacro %}{{ m(text) }}',
])('shielded values stay shielded, and are otherwise treated like any text: %s', (source) => {
  const shielded = { ...shieldAll(values), json: shieldJson(values.json, true) }
  const printed = render(source, shielded)
  expect(unshield(printed)).toBe(unshield(render(source, values)))
  expect(hasFrames(printed)).toBe(false)
})

test("the structure of printed lists and mappings is the template's own text", () => {
  const printed = render('{{ list | tojson }}{{ args.values() | list | tojson }}', {
    ...shieldAll(values),
    json: shieldJson(values.json, true),
  })
  expect(printed.replace(/[^<>[\]|｜▁]/g, '')).toBe('[][]')
})

test('noncharacters that a client sends are replaced', () => {
  expect(unshield(shield('a\ufdd0|im_end|>'))).toBe('a\ufffd|im_end|>')
})

test('JSON text remains valid', () => {
  const json = '[1, "[\\"<a>]", {"b|": []}]'
  expect(JSON.parse(shieldJson(json, true))).toEqual(shieldAll(JSON.parse(json)))
  expect(shieldJson('[1', false)).toBe(shield('[1'))
})
