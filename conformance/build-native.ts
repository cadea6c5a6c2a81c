/** Builds the programs in `native/` against the installed llama.cpp. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { LlamaSource } from '../testing/llama-source.ts'
import { needProgram, systemPath } from '../testing/programs.ts'

const run = promisify(execFile)
const maxOutputBytes = 64 * 1024 * 1024
const folders = ['common', 'include', 'ggml/include', 'vendor', 'src', 'tests', 'tools/mtmd']

/** Runs a program from `native/` in llama.cpp's source folder. Resolves to its output, a JSON object on each line. */
type RunNative = (name: 'cases' | 'renderings' | 'schemas', input: string) => Promise<string>

export async function buildNative({ path, buildPath }: LlamaSource): Promise<RunNative> {
  for (const [name, replacements] of Object.entries(patches)) {
    writeFileSync(join(buildPath, `patched-${name}`), patch(path, name, replacements))
  }
  await Promise.all(['cases', 'renderings', 'schemas'].map(build))
  return async (name, input) => {
    // LLAMA_SKIP_TESTS_SLOW_ON_EMULATOR keeps the schema test from starting Python.
    const env = { ...process.env, TZ: 'UTC', LLAMA_SKIP_TESTS_SLOW_ON_EMULATOR: '1' }
    const program = run(join(buildPath, name), { cwd: path, env, maxBuffer: maxOutputBytes })
    program.child.stdin?.end(input)
    return (await program).stdout
  }

  async function build(name: string) {
    const libraries = findLibraries()
    const words = [
      ...['-std=c++17', '-O0', '-ffunction-sections', '-Wl,--gc-sections', '-rdynamic'],
      ...folders.map((folder) => `-I${join(path, folder)}`),
      ...[`-I${buildPath}`, `-iquote${join(path, 'tests')}`],
      ...[join(import.meta.dirname, 'native', `${name}.cpp`), '-o', join(buildPath, name)],
      ...libraries.paths,
      `-Wl,-rpath,${libraries.folder}`,
    ]
    await run(needProgram('g++'), words, { env: { ...process.env, PATH: systemPath() } })
  }
}

type Replacement = [pattern: RegExp, replacement: string]

/** llama.cpp's test files are changed to print each case instead of running it. */
const patches: Record<string, Replacement[]> = {
  'test-chat.cpp': [
    [/test_peg_parser\(tester_\..*;$/m, 'print_case(tester_.template_path(), tc_);'],
    [
      /^class peg_test_builder;$/m,
      'static void print_case(const std::string &, peg_test_case);\n$&',
    ],
    [/^int main\(/m, '[[maybe_unused]] static int run_tests('],
  ],
  'test-json-schema-to-grammar.cpp': [
    [
      /tc\.verify\(json_schema_to_grammar\(.*\);\n +tc\.verify_status\(SUCCESS\);/g,
      'print_case(tc);',
    ],
    [/^static void write\(/m, 'static void print_case(const TestCase &);\n$&'],
    [/^ +test_resolves_to_string\(\);$/m, ''],
    [/^ +test_all\("Check Expectations Validity"(?:.*\n)*? {4}\}\);$/m, ''],
  ],
}

function patch(path: string, name: string, replacements: readonly Replacement[]): string {
  const source = readFileSync(join(path, 'tests', name), 'utf8')
  const patched = replacements.reduce((text, [pattern, replacement]) => {
    if (text.search(pattern) === -1) throw new Error(`tests/${name} does not contain ${pattern}`)
    return text.replace(pattern, replacement)
  }, source)
  return patched.replace(/"\.\.\/(src|tools)\//g, `"${path}/$1/`)
}

/** Finds the libraries of the installed llama.cpp, except the variants for specific processors. */
function findLibraries(): { folder: string; paths: string[] } {
  const packages = join(import.meta.dirname, '../node_modules/@node-llama-cpp')
  const name = `linux-${process.arch}`
  const folder = join(packages, name, 'bins', name)
  const files = readdirSync(folder).filter(
    (file) => /^lib.*\.so$/.test(file) && !/-cpu-/.test(file),
  )
  return { folder, paths: files.map((file) => join(folder, file)) }
}
