/** Generates the documentation's error tables, for `npm run errors`. */
import { daemonReasons } from './daemon-reasons.ts'
import { type Ending, endings } from './endings.ts'
import type { ErrorCode } from './error-details.ts'
import { errorTable } from './table.ts'

type Line = readonly (string | number)[]

const markdownTable = (titles: Line, lines: readonly Line[]): string =>
  [titles, titles.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.map(String).join(' | ')} |`)
    .join('\n')

const code = (text: string) => `\`${text}\``

const listReasons = (of: ErrorCode): [reason: string, meaning: string][] => {
  const { reasons } = errorTable[of] as { reasons?: Record<string, string> }
  return Object.entries(reasons ?? {})
}

/** Codes whose reasons identify the part of the network that failed. */
const networkCodes = [
  'unreachable',
  'tls_failed',
  'proxy_failed',
  'not_a_registry',
  'redirect_refused',
] as const satisfies ErrorCode[]

/** Codes that only a registry returns. */
const registryCodes = [
  'invalid',
  'unauthenticated',
  'forbidden',
  'not_found',
  'too_slow',
  'conflict',
  'too_large',
  'unprocessable',
  'busy',
  'unavailable',
  'storage_full',
] as const satisfies ErrorCode[]

const endingLines = Object.entries(endings).map(([ending, { exitCode, meaning }]) => [
  code(ending),
  exitCode,
  meaning,
])

const networkLines = networkCodes.flatMap((of) =>
  listReasons(of).map(([reason, meaning]) => [code(of), code(reason), meaning]),
)

const registryLines = registryCodes.flatMap((of) => {
  const { status = 0, meaning, ending } = errorTable[of]
  const own = of === 'storage_full' ? code(of) : ''
  return [
    [status, own, meaning, code(ending)],
    ...listReasons(of).map(([reason, why]) => [status, code(reason), why, code(ending)]),
  ]
})

const daemonLines = Object.entries(daemonReasons).map(
  ([reason, { status, meaning, ending }]: [
    string,
    { status: number; meaning: string; ending: Ending },
  ]) => [status, code(reason), meaning, code(ending)],
)

const answerTitles = ['Status', '`code`', 'Meaning', 'A command ends with']

const tables: Record<string, string> = {
  endings: markdownTable(['Code', 'Exit code', 'Meaning'], endingLines),
  network: markdownTable(['Code', 'Reason', 'Meaning'], networkLines),
  registry: markdownTable(answerTitles, registryLines),
  daemon: markdownTable(answerTitles, daemonLines),
}

const end = '<!-- End of the printed errors -->'
const blocks = new RegExp(`(<!-- Printed by: npm run errors \\((\\w+)\\) -->\n)[^]*?(${end})`, 'g')

/**
 * Updates the error tables in a documentation page, and returns the page. Throws if the page contains an unknown table
 * name.
 */
export const withErrorTables = (page: string): string =>
  page.replaceAll(blocks, (_, begin: string, name: string) => {
    const table = tables[name]
    if (table === undefined) throw new Error(`unknown error table: ${name}`)
    return `${begin}\n${table}\n\n${end}`
  })
