import type { CaseResult } from './score-cases.ts'
import type { RenderingResult } from './score-renderings.ts'

/** Returns a Markdown table with the results for each template. */
export function toTable(
  renderings: readonly RenderingResult[],
  cases: readonly CaseResult[],
): string {
  const templates = [...new Set([...renderings, ...cases].map(({ template }) => template))].sort()
  const rows = templates.map((template) => {
    const own = <T extends { template: string }>(all: readonly T[]) =>
      all.filter((one) => one.template === template)
    const rendered = own(renderings).filter(({ outcome }) => outcome !== 'none')
    const calls = own(cases).filter(({ expectsCalls }) => expectsCalls)
    return [
      template.replace(/\.jinja$/, ''),
      share(rendered, ({ outcome }) => outcome === 'equal'),
      share(calls, ({ areCallsRight }) => areCallsRight),
      share(own(cases), ({ areTextsRight }) => areTextsRight),
    ]
  })
  const head = ['template', 'rendered', 'calls', 'content and reasoning']
  return [head, ['---', '--:', '--:', '--:'], ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')
}

const share = <T>(all: readonly T[], isRight: (one: T) => boolean): string =>
  all.length === 0 ? '–' : `${all.filter(isRight).length} of ${all.length}`
