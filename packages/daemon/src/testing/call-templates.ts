/** Chat templates that print tool calls in different formats, for tests. */
/** Returns a template that prints tool calls in the format of `call`. */
export const template = (call: string, { before = '', after = '', reasoning = '' } = {}) =>
  `{{ tools }}{% for m in messages %}<|{{ m.role }}|>
${reasoning}{{ m.content }}{% if m.tool_calls %}${before}{% for c in m.tool_calls %}${call}{% endfor %}${after}{% endif %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{% endif %}`

export const name = '{{ c.function.name }}'
export const args = '{{ c.function.arguments | tojson }}'
export const each = (parameter: string) =>
  `{% for k, v in c.function.arguments.items() %}${parameter}{% endfor %}`
export const thinking =
  '{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}'

const both = { place: 'Kiel "harbor"', days: 2 }
const json = JSON.stringify(both)

/** The name and arguments of the two tool calls that each answer in `callTemplates` contains. */
export const bothCalls = [
  ['forecast', both],
  ['tide.table', {}],
]

/** For each format: a name, a template, and an answer that contains `bothCalls`. */
export const callTemplates: [name: string, source: string, answer: string][] = [
  [
    'JSON in tags, several times',
    template(`<call>\n{"name": "${name}", "arguments": ${args}}\n</call>`),
    `<call>{"name": "forecast", "arguments": ${json}}</call>\n<call>\n{"name": "tide.table"}</call>`,
  ],
  [
    'a list of JSON objects in tags, with other keys',
    template(`{"id": "0", "tool_name": "${name}", "parameters": ${args}}`, {
      before: '<|ACT|>[',
      after: ']<|END_ACT|>',
    }),
    `<|ACT|>[{"id": "0", "tool_name": "forecast", "parameters": ${json}}, {"parameters": {}, "tool_name": "tide.table"}]<|END_ACT|>`,
  ],
  [
    'arguments as a string',
    template(`<call>{"name": "${name}", "arguments": ${args}}</call>`),
    `<call>{"name": "forecast", "arguments": ${JSON.stringify(json)}}</call><call>{"name": "tide.table", "arguments": ""}`,
  ],
  [
    'JSON objects whose only key is the name',
    template(`{"${name}": ${args}}`, { before: '<|tools|>[', after: ']<|/tools|>' }),
    `<|tools|>[{"forecast": ${json}}, {"tide.table": {}}]<|/tools|>`,
  ],
  [
    'JSON in a fence',
    template(`{"tool_name": "${name}", "parameters": ${args}}`, {
      before: '\nAction:\n```json\n[',
      after: ']```',
    }),
    `Action:\n\`\`\`json\n[{"tool_name": "forecast", "parameters": ${json}},\n{"tool_name": "tide.table", "parameters": {}}]\n\`\`\``,
  ],
  [
    'names and JSON',
    template(`[CALLS]${name}[ID]123456789[ARGS]${args}`),
    `[CALLS]forecast[ID]987654321[ARGS]${json}[CALLS]tide.table[ARGS]{}`,
  ],
  [
    'names with a prefix and an index, in a section',
    template(`<|call|>functions.${name}:0<|args|>${args}<|/call|>`, {
      before: '<|calls|>',
      after: '<|/calls|>',
    }),
    `<|calls|><|call|>functions.forecast:0<|args|>${json}<|/call|><|call|>functions.tide.table:1<|args|>{}<|/call|><|/calls|>`,
  ],
  [
    'names and JSON in fences',
    template(`<|call|>function<|sep|>${name}\n\`\`\`json\n${args}\n\`\`\`<|/call|>`),
    `<|call|>function<|sep|>forecast\n\`\`\`json\n${json}\n\`\`\`<|/call|>\n<|call|>function<|sep|>tide.table\n\`\`\`json\n{}\n\`\`\`<|/call|>`,
  ],
  [
    'a tag for each parameter, with line feeds',
    template(
      `\n<tool>\n<function=${name}>\n${each('<parameter={{ k }}>\n{{ v }}\n</parameter>\n')}</function>\n</tool>`,
    ),
    `<tool>\n<function=forecast>\n<parameter=place>\n${both.place}\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n</tool>\n<tool>\n<function=tide.table>\n</function>\n</tool>`,
  ],
  [
    'a tag with attributes for each parameter',
    template(
      `<x:invoke name="${name}">\n${each('<x:p name="{{ k }}" string="true">{{ v }}</x:p>\n')}</x:invoke>\n`,
      { before: '\n\n<x:calls>\n', after: '</x:calls>' },
    ),
    `<x:calls>\n<x:invoke name="forecast">\n<x:p name="place" string="true">${both.place}</x:p>\n<x:p name="days" string="false">2</x:p>\n</x:invoke>\n<x:invoke name="tide.table">\n</x:invoke>\n</x:calls>`,
  ],
  [
    'tags for names and values',
    template(`<tool>${name}\n${each('<k>{{ k }}</k>\n<v>{{ v }}</v>\n')}</tool>`),
    `<tool>forecast\n<k>place</k>\n<v>${both.place}</v>\n<k>days</k>\n<v>2</v>\n</tool><tool>tide.table</tool>`,
  ],
  [
    'tags with the names of the parameters',
    template(
      `::<tool>\n::<invoke name="${name}">${each('::<{{ k }}>{{ v }}::</{{ k }}>')}::</invoke>\n::</tool>`,
    ),
    `::<tool>\n::<invoke name="forecast">::<place>${both.place}::</place>::<days>2::</days>::</invoke>\n::<invoke name="tide.table">::</invoke>\n::</tool>`,
  ],
  [
    'Python',
    template(
      `${name}(${'{% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }}{% if not loop.last %}, {% endif %}{% endfor %}'})`,
      { before: '<|py|>[', after: ']<|/py|>' },
    ),
    `<|py|>[forecast(place='Kiel "harbor"', days=2), tide.table()]<|/py|>`,
  ],
  [
    "Gemma's literals",
    template(
      `<|tool>call:${name}{{ '{' }}${'{% for k, v in c.function.arguments.items() %}{{ k }}:{% if v is string %}<|"|>{{ v }}<|"|>{% else %}{{ v }}{% endif %}{% if not loop.last %},{% endif %}{% endfor %}'}{{ '}' }}<tool|>`,
    ),
    `<|tool>call:forecast{place:<|"|>${both.place}<|"|>,days:2}<tool|><|tool>call:tide.table{}<tool|>`,
  ],
]
