/**
 * Reads a version's sources and its output (help, API document, metrics), to find the names on which other programs
 * depend.
 */
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Returns the help of a command. */
export type Help = (words: readonly string[]) => Promise<string>

/** Returns each command with its flags, for example `shoal pull`: `--dry-run`, … */
export async function commandsIn(help: Help): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  async function add(words: readonly string[]) {
    const text = await help([...words, '--help'])
    const [own = ''] = text.split('\nGlobal Options:\n')
    found[['shoal', ...words].join(' ')] = flagsIn(own)
    const groups = words.length === 0 ? text : (text.split('\nCommands:\n')[1] ?? '')
    for (const name of namesIn(groups)) await add([...words, name])
  }
  await add([])
  return found
}

const flagsIn = (help: string) =>
  [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)( <[^>]+>)?/gm)].map(
    ([, flag = '', argument]) => flag + (argument ? ' <…>' : ''),
  )

const namesIn = (help: string) =>
  [...help.matchAll(/^ {2}([a-z][a-z-]*)\b/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help')

type Document = {
  paths: Record<string, Record<string, unknown>>
  components: { schemas: Record<string, { properties?: object }> }
}

/** Returns the operations of an API document, such as `GET /v1/models`. */
export const operationsIn = ({ paths }: Document): string[] =>
  Object.entries(paths)
    .flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    .toSorted()

/** Returns the property names of each object in an API document. */
export const propertiesIn = ({ components }: Document): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(components.schemas)
      .map(([name, { properties = {} }]) => [name, Object.keys(properties)] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )

type Source = { path: string; text: string }

/** Reads the sources of the packages, without tests. */
export async function readSources(checkout: string): Promise<Source[]> {
  const sources: Source[] = []
  for await (const path of glob('packages/*/{src,bin}/**/*.{js,ts,tsx}', { cwd: checkout })) {
    if (/\.test\.tsx?$|\/testing\//.test(path)) continue
    sources.push({ path, text: await readFile(join(checkout, path), 'utf8') })
  }
  return sources
}

/** Returns the names and types of shoal's own metrics. */
export const metricsIn = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (shoal_\w+ \w+)$/gm)].map(([, metric = '']) => metric).toSorted()
