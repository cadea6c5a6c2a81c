/** Defines the formats of tool calls for models whose templates do not print any. */
import { probe } from './probe.ts'

const { name } = probe
const args = `{"${probe.textKey}": "${probe.text}", "${probe.numberKey}": ${probe.number}}`
const pythonArgs = `${probe.textKey}="${probe.text}", ${probe.numberKey}=${probe.number}`

/**
 * Examples of calls for templates that print none. The first example whose pattern matches the template's source is
 * used.
 */
const examples: readonly [marker: RegExp, example: string][] = [
  [/\[TOOL_CALLS\]/, `[TOOL_CALLS]${name}[ARGS]${args}`],
  [
    /<\|tool_call_start\|>|List of tools: /,
    `<|tool_call_start|>[${name}(${pythonArgs})]<|tool_call_end|>`,
  ],
  [
    /<\|tool_calls_section_begin\|>/,
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${args}<|tool_call_end|><|tool_calls_section_end|>`,
  ],
  [
    /<｜tool▁calls▁begin｜>/,
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${args}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  ],
  [
    /^(?![\s\S]*<tool_call>)[\s\S]*("parameters":|python_tag)/,
    `{"name": "${name}", "parameters": ${args}}`,
  ],
]

/** The format of Qwen, Hermes and many others. Also used for models whose templates do not support tools. */
const tagged = `<tool_call>{"name": "${name}", "arguments": ${args}}</tool_call>`

/** Returns the example for a template's source. The example contains the probe's names and values. */
export function callExample(template: string): string {
  const [, example = tagged] = examples.find(([marker]) => marker.test(template)) ?? []
  return example
}
