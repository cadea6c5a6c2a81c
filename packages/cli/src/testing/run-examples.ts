/** Type-checks the examples in doc comments, and runs them in a separate process. */
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ModelFile, StartedUpload } from '@shoal/protocol/client'
import type { Example } from './read-examples.ts'

const root = join(import.meta.dirname, '../../../..')
const buildFolder = join(import.meta.dirname, '../../.build')
const run = promisify(execFile)

/** The values that examples can use in addition to `client` (the registry client) and `daemon` (the daemon client). */
export type ExampleValues = {
  registryUrl: string
  daemonUrl: string
  /** A token of the administrator account `ana`, whose password is `password`. */
  token: string
  password: string
  /** A file of the model `tide`. */
  file: ModelFile
  /** An upload to `tide` whose chunks have all been sent. */
  upload: StartedUpload
}

/**
 * Type-checks the examples, and runs them in `folder`, one after another. Returns the type errors and the examples that
 * fail.
 */
export async function runExamples(
  examples: readonly Example[],
  { values, folder }: { values: ExampleValues; folder: string },
): Promise<{ typeErrors: string; failures: { name: string; error: string }[] }> {
  mkdirSync(buildFolder, { recursive: true })
  // Inside the package, so that imports are resolved as in the package's own files.
  const modules = await mkdtemp(join(buildFolder, 'examples-'))
  try {
    const write = (name: string, content: string) => writeFile(join(modules, name), content)
    const files = examples.map((example, index) => ({ ...example, file: `example-${index}.ts` }))
    await Promise.all(files.map(({ file, ...example }) => write(file, makeModule(example, values))))
    await write('run.ts', makeProgram(files))
    await write('tsconfig.json', JSON.stringify(settings))

    const typeErrors = await checkTypes(modules)
    const env = { ...process.env, EXAMPLE_VALUES: JSON.stringify(values) }
    const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }
    const { stderr } = await run(process.execPath, [join(modules, 'run.ts')], options)
    const failures = JSON.parse(stderr.trim().split('\n').at(-1) ?? '')
    return { typeErrors: nameExamples(typeErrors, files), failures }
  } finally {
    await rm(modules, { recursive: true, force: true })
  }
}

const settings = {
  extends: join(root, 'tsconfig.base.json'),
  include: ['*.ts', '../../../*/src/**/*.d.ts'],
  compilerOptions: {
    composite: false,
    incremental: false,
    emitDeclarationOnly: false,
    noEmit: true,
    rootDir: root,
  },
}

async function checkTypes(modules: string): Promise<string> {
  const tsc = join(root, 'node_modules/.bin/tsc')
  try {
    await run(tsc, ['-p', modules, '--pretty', 'false'], { cwd: modules })
    return ''
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && error.stdout) return String(error.stdout)
    throw error
  }
}

function nameExamples(errors: string, files: readonly { name: string; file: string }[]): string {
  return files.reduce((text, { name, file }) => text.replaceAll(`${file}(`, `${name} (`), errors)
}

/** Creates a module from an example, and replaces the default addresses with those of the running programs. */
function makeModule({ imports, body }: Omit<Example, 'name'>, values: ExampleValues): string {
  const code = `${imports}
import type { Values } from './run.ts'

export default async ({ client, daemon, token, password, file, upload }: Values) => {
  {
${body}
  }
}
`
  return code
    .replaceAll('http://localhost:8000', values.registryUrl)
    .replaceAll('http://localhost:11434', values.daemonUrl)
}

/** Creates a program that runs the examples and prints the failures as JSON on the last line of stderr. */
function makeProgram(files: readonly { name: string; file: string }[]): string {
  return `import { registryClient } from '@shoal/protocol/client'
import { fetchInference, inferenceClient } from '@shoal/protocol/inference-client'
import type { ExampleValues } from '../../src/testing/run-examples.ts'

const values = JSON.parse(process.env.EXAMPLE_VALUES ?? '') as ExampleValues
const client = registryClient({ baseUrl: values.registryUrl, token: values.token })
const daemon = inferenceClient(fetchInference(values.daemonUrl))
const given = { ...values, client, daemon }
export type Values = typeof given

const failures: { name: string; error: string }[] = []
for (const { name, file } of ${JSON.stringify(files.map(({ name, file }) => ({ name, file })))}) {
  try {
    await (await import('./' + file)).default(given)
  } catch (error) {
    failures.push({ name, error: String(error) })
  }
}
console.error(JSON.stringify(failures))
`
}
