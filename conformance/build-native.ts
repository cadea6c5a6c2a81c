/** Builds the programs in `native/` against the installed llama.cpp. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { LlamaSource } from './llama-source.ts'

const run = promisify(execFile)
const maxOutputBytes = 64 * 1024 * 1024
const folders = ['common', 'include', 'ggml/include', 'vendor', 'src', 'tests', 'tools/mtmd']

/** Runs a program from `native/` in llama.cpp's source folder. Resolves to its output lines, parsed as JSON. */
export type RunNative = (name: 'cases' | 'renderings', input?: string) => Promise<unknown[]>

export async function buildNative({ path, buildPath }: LlamaSource): Promise<RunNative> {
  writeFileSync(join(buildPath, 'patched-test-chat.cpp'), patchCases(path))
  await Promise.all(['cases', 'renderings'].map(build))
  return async (name, input = '') => {
    const env = { ...process.env, TZ: 'UTC' }
    const program = run(join(buildPath, name), { cwd: path, env, maxBuffer: maxOutputBytes })
    program.child.stdin?.end(input)
    return (await program).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }

  async function build(name: string) {
    const libraries = findLibraries()
    await run('g++', [
      ...['-std=c++17', '-O0', '-ffunction-sections', '-Wl,--gc-sections', '-rdynamic'],
      ...folders.map((folder) => `-I${join(path, folder)}`),
      ...[`-I${buildPath}`, `-iquote${join(path, 'tests')}`],
      ...[join(import.meta.dirname, 'native', `${name}.cpp`), '-o', join(buildPath, name)],
      ...libraries.paths,
      `-Wl,-rpath,${libraries.folder}`,
    ])
  }
}

/** Returns llama.cpp's test file, changed to print each case instead of running it, and to have no `main`. */
function patchCases(path: string): string {
  const source = readFileSync(join(path, 'tests/test-chat.cpp'), 'utf8')
  const replacements: [RegExp, string][] = [
    [/test_peg_parser\(tester_\..*;$/m, 'print_case(tester_.template_path(), tc_);'],
    [
      /^class peg_test_builder;$/m,
      'static void print_case(const std::string &, peg_test_case);\n$&',
    ],
    [/^int main\(/m, '[[maybe_unused]] static int run_tests('],
    [/"\.\.\/(src|tools)\//g, `"${path}/$1/`],
  ]
  return replacements.reduce((text, [pattern, replacement]) => {
    if (text.search(pattern) === -1)
      throw new Error(`tests/test-chat.cpp does not contain ${pattern}`)
    return text.replace(pattern, replacement)
  }, source)
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
