import { readFileSync } from 'node:fs'

/** The code of one `@example`. */
export type Example = {
  /** The name of the file and the line of the code, as in `client.ts:120`. */
  name: string
  /** The example's import statements, one per line. */
  imports: string
  body: string
}

/** Reads the examples in the doc comments of a source file. */
export function readExamples(path: string, name: string): Example[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    if (!/^\s*\* @example$/.test(line)) return []
    const rest = lines.slice(index + 1)
    const end = rest.findIndex((one) => /^\s*\*( @|\/)/.test(one))
    const code = rest.slice(0, end).map((one) => one.replace(/^\s*\* ?/, ''))
    const isImport = (one: string) => one.startsWith('import ')
    return [
      {
        name: `${name}:${index + 2}`,
        imports: code.filter(isImport).join('\n'),
        body: code
          .filter((one) => !isImport(one))
          .join('\n')
          .trim(),
      },
    ]
  })
}
