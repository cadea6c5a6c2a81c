import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedBuild, hashFiles } from '../../testing/build-cache.ts'
import { runNpm } from './run-npm.ts'

/** The oldest Node that can run shoal, and the oldest that can run a registry with SQLite. */
const versions = { client: '22.13.0', registry: '22.16.0' }

/** Installs the oldest supported versions of Node in a folder, and returns the paths of their executables. */
export async function installOldestNodes(folder: string): Promise<typeof versions> {
  return {
    client: await installNode(join(folder, 'client-node'), versions.client),
    registry: await installNode(join(folder, 'registry-node'), versions.registry),
  }
}

async function installNode(into: string, version: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`
  await cachedBuild(
    {
      name: `node-${version}`,
      key: hashFiles(import.meta.dirname, ['oldest-nodes.ts', 'run-npm.ts']),
      async build(place) {
        await writeFile(join(place, 'package.json'), '{ "private": true }')
        await runNpm(place, ['install', '--ignore-scripts', `${name}@${version}`])
      },
    },
    into,
  )
  return join(into, 'node_modules', name, 'bin', 'node')
}
