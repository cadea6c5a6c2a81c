/** Where our renderings differ from llama.cpp's on purpose. */
type Policy = {
  /** The templates, by the beginnings of their filenames. */
  templates: readonly string[]
  /** The conversations, by their names; undefined for all. */
  conversations?: readonly string[]
  reason: string
}

const policies: readonly Policy[] = []

/** Returns why our rendering may differ; undefined if it may not. */
export const findPolicy = (template: string, conversation: string): string | undefined =>
  policies.find(
    ({ templates, conversations }) =>
      templates.some((beginning) => template.startsWith(beginning)) &&
      (conversations === undefined || conversations.includes(conversation)),
  )?.reason
