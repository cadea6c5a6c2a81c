import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'

export type InstalledFiles = {
  /** All paths in the program's folder. */
  paths: string[]
  /** The scripts that npm would run, such as `node_modules/zod/package.json prepare`. */
  scripts: string[]
}

export async function listInstalledFiles(folder: string): Promise<InstalledFiles> {
  const paths = await readdir(folder, { recursive: true })
  const manifests = paths.filter((name) => /(^|\/)package\.json$/.test(name))
  const scripts = await Promise.all(
    manifests.map(async (name) => {
      const { scripts = {} } = JSON.parse(await readFile(join(folder, name), 'utf8'))
      const hooks = ['preinstall', 'install', 'postinstall', 'prepare']
      return hooks.filter((hook) => hook in scripts).map((hook) => `${name} ${hook}`)
    }),
  )
  return { paths, scripts: scripts.flat() }
}

/**
 * Fails unless the program has only native code that a release lists, nothing for graphics cards, no TypeScript, and no
 * script that npm would run.
 */
export function expectOnlyNeeded({ paths, scripts }: InstalledFiles): void {
  const native = paths.filter((name) => name.endsWith('.node'))
  const allowed = /^node_modules\/(@node-llama-cpp\/linux-\w+|@node-rs\/argon2-linux-\w+-gnu)\//
  expect(native.filter((name) => !allowed.test(name))).toEqual([])
  expect(native.length).toBeGreaterThanOrEqual(2)
  const forGraphics = /cuda|vulkan|binding\.gyp/i
  expect(paths.filter((name) => forGraphics.test(name) && /\.(so|dll|gyp)\b/.test(name))).toEqual(
    [],
  )
  expect(paths.filter((name) => /(?<!\.d)\.tsx?$/.test(name))).toEqual([])
  expect(scripts).toEqual([])
}
