/** Reads from package-lock.json which installed packages a program needs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An entry of `packages` in package-lock.json. */
type LockEntry = {
  version?: string
  /** For a link, the path of the folder. */
  resolved?: string
  link?: boolean
  integrity?: string
  license?: string
  os?: string[]
  cpu?: string[]
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

export type InstalledPackage = {
  name: string
  version: string
  /** Relative to the root, such as `node_modules/ora/node_modules/string-width`. */
  path: string
  /** The folder that `path` links to, for our own packages and stubs; otherwise the same as `path`. */
  folder: string
  license: string | undefined
  integrity: string | undefined
  /** The URL from which the package was downloaded. Undefined for our own packages and stubs. */
  source: string | undefined
  /** Whether the package contains native code for one platform. */
  isNative: boolean
  /** The packages that this package imports, by name. */
  dependencies: Map<string, InstalledPackage>
}

/**
 * Returns the package at `path` and everything it needs, directly or indirectly, by path. Optional dependencies are
 * included, even those for other platforms, which are not installed.
 * @throws if package-lock.json lacks a dependency
 */
export function readInstalledPackages(root: string, path: string): Map<string, InstalledPackage> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const entries: Record<string, LockEntry> = lock.packages
  const found = new Map<string, InstalledPackage>()
  visit(path)
  return found

  function visit(path: string): InstalledPackage {
    const known = found.get(path)
    if (known) return known
    const entry = entries[path] ?? {}
    const folder = entry.link ? (entry.resolved ?? path) : path
    const target = entries[folder] ?? {}
    const one: InstalledPackage = {
      name: path.split('node_modules/').at(-1) ?? path,
      version: target.version ?? '0.0.0',
      path,
      folder,
      license: target.license,
      integrity: target.integrity,
      source: entry.link ? undefined : target.resolved,
      isNative: Boolean(target.os ?? target.cpu),
      dependencies: new Map(),
    }
    found.set(path, one)
    for (const name of Object.keys({ ...target.dependencies, ...target.optionalDependencies })) {
      const place = resolve(folder, name)
      if (place !== undefined) one.dependencies.set(name, visit(place))
      else if (target.dependencies?.[name] !== undefined)
        throw new Error(`package-lock.json lacks ${name}, which ${path} needs: run npm install`)
    }
    return one
  }

  /** Follows Node's rule: the package is in `node_modules` of the folder or of one of the folders above it. */
  function resolve(folder: string, name: string): string | undefined {
    const parts = folder === '' ? [] : folder.split('/')
    for (let count = parts.length; count >= 0; count--) {
      if (parts[count - 1] === 'node_modules') continue
      const path = [...parts.slice(0, count), 'node_modules', name].join('/')
      if (entries[path]) return path
    }
    return undefined
  }
}
