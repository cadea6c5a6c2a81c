/** An intended difference between our renderings and llama.cpp's. */
type Policy = {
  /** The beginnings of the templates' filenames. */
  templates: readonly string[]
  /** The names of the conversations; undefined for all. */
  conversations?: readonly string[]
  reason: string
}

const withTools = ['tools', 'a call and its result', 'parallel calls, and the next turn']

const policies: readonly Policy[] = [
  {
    templates: [
      'HuggingFaceTB-SmolLM3',
      'deepseek-ai-DeepSeek-R1-Distill',
      'deepseek-ai-DeepSeek-V3.1',
      'fireworks-ai-llama-3-firefunction-v2',
      'google-gemma-2-2b-it',
      'llama-cpp-rwkv-world',
      'microsoft-Phi-3.5-mini-instruct',
    ],
    conversations: withTools,
    reason:
      'The template does not print the variable "tools". shoal describes the tools in the system message; llama.cpp omits them.',
  },
  {
    templates: ['StepFun3.5-Flash'],
    conversations: ['several turns'],
    reason: 'llama.cpp trims message content for this template, although the template does not.',
  },
  {
    templates: ['unsloth-mistral-Devstral-Small-2507'],
    conversations: ['reasoning in the history'],
    reason:
      'The template has no place for reasoning. llama.cpp drops the content of a message with reasoning; shoal keeps it.',
  },
  {
    templates: ['openbmb-MiniCPM5-1B'],
    conversations: ['parallel calls, and the next turn'],
    reason:
      'The template prints a list. shoal prints the list as Python does; llama.cpp joins the items.',
  },
]

/** Returns the reason why our rendering may differ from llama.cpp's; undefined if it must not differ. */
export const findPolicy = (template: string, conversation: string): string | undefined =>
  policies.find(
    ({ templates, conversations }) =>
      templates.some((beginning) => template.startsWith(beginning)) &&
      (conversations === undefined || conversations.includes(conversation)),
  )?.reason
