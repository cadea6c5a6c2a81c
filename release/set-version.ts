/** Sets the version of all packages, and turns the unreleased changes in the changelog into those of the version. */
import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compareVersions, parseArchiveName } from '@shoal/releases/make'

type Manifest = {
  name?: string
  version?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const unreleased = '## Unreleased\n'

/**
 * Sets the version, such as `0.2.0`, in the repository at `root`. `date` is the date of the release, such as
 * `2026-01-31`. Throws, without changing anything, if the version is malformed or not newer than the current one, or if
 * the changelog lists no unreleased changes.
 */
export async function setVersion(root: string, version: string, date: string): Promise<void> {
  const read = (path: string) => readFile(join(root, path), 'utf8')
  const { version: current = '' } = JSON.parse(await read('package.json')) as Manifest
  if (parseArchiveName(`shoal-${version}-linux-x64.tar.gz`)?.version !== version) {
    throw new Error(`"${version}" is not a version such as 0.2.0 or 1.0.0-rc.1`)
  }
  if (compareVersions(version, current) <= 0) {
    throw new Error(`version ${version} is not newer than the current one, ${current}`)
  }
  const changed = new Map<string, string>()
  changed.set('CHANGELOG.md', releaseChanges(await read('CHANGELOG.md'), `${version} (${date})`))
  const example = await read('deploy/example.env')
  changed.set(
    'deploy/example.env',
    example.replace(/^SHOAL_VERSION=.*$/m, `SHOAL_VERSION=${version}`),
  )
  const manifests = ['package.json']
  for await (const path of glob('{packages/*,bench}/package.json', { cwd: root }))
    manifests.push(path)
  for (const path of manifests) {
    const manifest: Manifest = JSON.parse(await read(path))
    changed.set(path, toJson(withVersion(manifest, version)))
  }
  const lock: Manifest & { packages: Record<string, Manifest> } = JSON.parse(
    await read('package-lock.json'),
  )
  for (const path of manifests) {
    const folder = path.replace(/\/?package\.json$/, '')
    lock.packages[folder] = withVersion(lock.packages[folder] ?? {}, version)
  }
  changed.set('package-lock.json', toJson({ ...lock, version }))
  for (const [path, text] of changed) await writeFile(join(root, path), text)
}

const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`

/** Our own packages depend on each other's exact versions. */
function withVersion(manifest: Manifest, version: string): Manifest {
  const update = (all: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(all).map(([name, range]) => [
        name,
        name.startsWith('@shoal/') ? version : range,
      ]),
    )
  const changed: Manifest = { ...manifest, version }
  for (const kind of ['dependencies', 'devDependencies'] as const) {
    const all = manifest[kind]
    if (all) changed[kind] = update(all)
  }
  return changed
}

/** Adds the heading of a release below that of the unreleased changes. */
function releaseChanges(changelog: string, heading: string): string {
  const [, changes = ''] = changelog.split(unreleased)
  if (!/^- /m.test(changes.split(/^## /m)[0] ?? '')) {
    throw new Error(
      'CHANGELOG.md lists no changes under "Unreleased": add what users and operators notice',
    )
  }
  return changelog.replace(unreleased, `${unreleased}\n## ${heading}\n`)
}
