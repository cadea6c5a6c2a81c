/**
 * Assembles the program as one npm package that contains its dependencies. npm can install the stubs only in
 * a clone, so they are applied here and not on the user's machine.
 */
import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { compilePackage, removeUnreachable } from './compile-package.ts'
import { type InstalledPackage, readInstalledPackages } from './installed-packages.ts'

/** The oldest Node on which a release runs. Keep in sync with `bin/shoal.js`. */
const engines = { node: '>=22.13' }

/**
 * Packages that are left out:
 * - `@reflink/reflink`, which copies files for node-llama-cpp's own downloader. shoal does not use this downloader.
 * - Backends for graphics cards. `shoal runtime install` downloads them.
 * - llama.cpp for ARMv7. Node no longer supports ARMv7, but npm would install this package on x64 too.
 */
const leftOut = /^@reflink\/|^@node-llama-cpp\/(.*-(cuda|cuda-ext|vulkan)|linux-armv7l)$/

export type Program = {
  version: string
  /** The packages in the program, except our own. */
  bundled: InstalledPackage[]
  /** Packages with native code. npm installs only those for the user's platform. */
  native: InstalledPackage[]
}

/** Writes the program to the folder `into`, which must be empty. The pages are built; everything else is compiled. */
export async function assembleProgram(root: string, into: string): Promise<Program> {
  const all = [...readInstalledPackages(root, 'node_modules/@shoal/cli').values()]
  const kept = all.filter(({ name }) => !leftOut.test(name))
  const own = kept.filter(({ name }) => name.startsWith('@shoal/'))
  const native = kept.filter(({ isNative }) => isNative)
  const bundled = kept.filter((one) => !one.isNative && !own.includes(one))
  const cli = own.find(({ name }) => name === '@shoal/cli')
  if (cli === undefined) throw new Error('package-lock.json lacks @shoal/cli: run npm install')

  await inTurns(bundled, 16, (one) => copyPackage(root, one, join(into, one.path)))
  await inTurns(own, 2, (one) => compileOwn(root, one, placeOf(one, into)))
  await buildPages(root, join(into, 'node_modules', '@shoal', 'web'))
  await copyEntry(root, join(into, 'packages', 'cli', 'bin'))
  await copyTexts(root, into)
  await writeRootManifest(into, { cli, own, native })
  return { version: cli.version, bundled, native }
}

/**
 * Returns the folder for one of our own packages. The CLI is outside `node_modules`, because its modules find the demo
 * models by a path relative to the root.
 */
const placeOf = ({ name, path, folder }: InstalledPackage, into: string) =>
  join(into, name === '@shoal/cli' ? folder : path)

/** Runs up to `count` calls at the same time. If one fails, waits until the others have ended, and then rejects. */
async function inTurns<T>(items: readonly T[], count: number, run: (item: T) => Promise<void>) {
  const waiting = [...items]
  const results = await Promise.allSettled(
    Array.from({ length: count }, async () => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await run(item)
    }),
  )
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** Matches files that are left out: TypeScript types and sources, source maps, tests, and documents except licenses. */
const unneeded =
  /\.[cm]?tsx?$|\.map$|\.tsbuildinfo$|(^|\/)(__tests__|\.github|\.nyc_output|coverage)(\/|$)|^(test|tests|docs|example|examples)(\/|$)|^(?!.*(licen[cs]e|notice|copying)).*\.(md|markdown)$/i

async function copyPackage(root: string, one: InstalledPackage, into: string): Promise<void> {
  const from = join(root, one.folder)
  await mkdir(into, { recursive: true })
  await cp(from, into, {
    recursive: true,
    dereference: true,
    filter: (path) => {
      const name = relative(from, path)
      return !/^node_modules(\/|$)/.test(name) && !unneeded.test(name)
    },
  })
  const manifest = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'))
  await writeManifest(into, withoutInstall(manifest, one))
}

/**
 * Removes the fields that npm would act on: scripts, commands, and dependencies for development or for other platforms.
 * The remaining dependencies get the versions that the release contains.
 */
function withoutInstall(manifest: Record<string, unknown>, one: InstalledPackage) {
  const {
    scripts: _scripts,
    bin: _bin,
    devDependencies: _development,
    peerDependencies: _peers,
    peerDependenciesMeta: _peersMeta,
    optionalDependencies: _optional,
    overrides: _overrides,
    bundleDependencies: _bundle,
    bundledDependencies: _bundled,
    private: _private,
    ...rest
  } = manifest
  return { ...rest, name: one.name, version: one.version, dependencies: exactVersions(one) }
}

function exactVersions({ dependencies }: InstalledPackage): Record<string, string> {
  const kept = [...dependencies].filter(([, one]) => !one.isNative && !leftOut.test(one.name))
  return Object.fromEntries(kept.map(([name, { version }]) => [name, version]))
}

async function compileOwn(root: string, one: InstalledPackage, into: string): Promise<void> {
  await mkdir(into, { recursive: true })
  await compilePackage({ root, folder: one.folder, into })
  const manifest = JSON.parse(await readFile(join(root, one.folder, 'package.json'), 'utf8'))
  const entrances = Object.entries(manifest.exports as Record<string, string>)
    .filter(([, path]) => !path.includes('/testing/'))
    .map(([name, path]) => [name, path.replace(/\.tsx?$/, '.js')] as const)
  const exports = Object.fromEntries(entrances)
  await writeManifest(into, { ...withoutInstall(manifest, one), exports, engines })
  if (one.name === '@shoal/web')
    await removeUnreachable(into, entrances.map(([, path]) => path).concat('package.json'))
}

async function writeManifest(folder: string, manifest: object): Promise<void> {
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

async function buildPages(root: string, into: string): Promise<void> {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const build = (...words: string[]) =>
    promisify(execFile)(process.execPath, [vite, 'build', '--logLevel', 'warn', ...words], {
      cwd: join(root, 'packages', 'web'),
    })
  await build('--outDir', join(into, 'dist', 'client'))
  await build('--ssr', 'src/print.tsx', '--outDir', join(into, 'dist', 'server'))
}

async function copyEntry(root: string, into: string): Promise<void> {
  await cp(join(root, 'release', 'bin'), into, { recursive: true })
  for (const name of await readdir(into)) await chmod(join(into, name), 0o644)
  await chmod(join(into, 'shoal.js'), 0o755)
}

/** Copies the license, the changelog and the demo models, without the scripts and documents about their training. */
async function copyTexts(root: string, into: string): Promise<void> {
  const models = join(root, 'models')
  await cp(models, join(into, 'models'), {
    recursive: true,
    filter: (path) => !/(^|\/)(scripts|samples\.md|training\.md)$/.test(relative(models, path)),
  })
  for (const name of ['LICENSE', 'CHANGELOG.md']) await cp(join(root, name), join(into, name))
}

type Parts = { cli: InstalledPackage; own: InstalledPackage[]; native: InstalledPackage[] }

async function writeRootManifest(into: string, { cli, own, native }: Parts): Promise<void> {
  const direct = {
    ...exactVersions(cli),
    ...Object.fromEntries(own.map(({ name, version }) => [name, version])),
  }
  delete direct['@shoal/cli']
  const dependencies = Object.fromEntries(
    Object.entries(direct).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
  await writeManifest(into, {
    name: 'shoal',
    version: cli.version,
    description:
      'A model registry that anybody can run, a command line, and a local inference daemon.',
    license: 'Apache-2.0',
    type: 'module',
    engines,
    bin: { shoal: 'packages/cli/bin/shoal.js' },
    dependencies,
    bundleDependencies: Object.keys(dependencies),
    optionalDependencies: Object.fromEntries(native.map(({ name, version }) => [name, version])),
  })
}
