/** Compiles one of our own packages to JavaScript. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

type Options = {
  /** The repository. */
  root: string
  /** The package's folder, relative to the root, such as `packages/cli`. */
  folder: string
  /** The folder to which the compiled package is written. */
  into: string
}

/**
 * Writes the compiled modules of a package, and the other files that the modules read, such as SQL. TypeScript also
 * replaces the syntax that Node 22 lacks, such as `using`. Tests and their helpers are left out.
 */
export async function compilePackage({ root, folder, into }: Options): Promise<void> {
  const output = await mkdtemp(join(tmpdir(), 'shoal-release-'))
  try {
    await runTypeScript(root, folder, output)
    const filter = (path: string) => isShipped(relative(output, path))
    await cp(join(output, 'src'), join(into, 'src'), { recursive: true, filter })
  } finally {
    await rm(output, { recursive: true })
  }
  await copyOtherFiles(join(root, folder, 'src'), join(into, 'src'))
}

/** `npm run types` checks the types, so this run only compiles. */
async function runTypeScript(root: string, folder: string, output: string): Promise<void> {
  const options = {
    noCheck: 'true',
    emitDeclarationOnly: 'false',
    declaration: 'false',
    composite: 'false',
    incremental: 'false',
    tsBuildInfoFile: 'null',
    rewriteRelativeImportExtensions: 'true',
    removeComments: 'true',
    outDir: output,
  }
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [compiler, '-p', folder, ...words], { cwd: root })
}

/** Copies the files that modules read at run time, such as SQL and shell completions. */
async function copyOtherFiles(from: string, into: string): Promise<void> {
  const filter = async (path: string) => {
    const name = relative(from, path)
    return isShipped(name) && !/\.(tsx?|md|css)$/.test(name)
  }
  await cp(from, into, { recursive: true, filter })
  await removeEmptyFolders(into)
}

const isShipped = (path: string) =>
  !/(^|\/)testing(\/|$)|\.test\.|\.contract\.|(^|\/)README\.md$/.test(path)

async function removeEmptyFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeEmptyFolders(join(folder, entry.name))
  }
  if ((await readdir(folder)).length === 0) await rm(folder, { recursive: true })
}

/**
 * Removes the modules in `folder` that none of `entrances` import, directly or indirectly. Used for the pages, because
 * most of their modules are needed only for the build.
 */
export async function removeUnreachable(
  folder: string,
  entrances: readonly string[],
): Promise<void> {
  const reachable = new Set<string>()
  const waiting = entrances.map((name) => join(folder, name))
  for (const path of waiting) {
    if (reachable.has(path)) continue
    reachable.add(path)
    const source = await readFile(path, 'utf8')
    for (const [, name = ''] of source.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+\.js)['"]/g))
      waiting.push(join(dirname(path), name))
  }
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && !reachable.has(path)) await rm(path)
  }
  await removeEmptyFolders(folder)
}
