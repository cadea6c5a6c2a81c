// Deletes 200 MB of dependencies that nothing here reads, after npm ci. Also runs on old Node.js versions.
// npm installs packages whole, and has no setting that leaves out some of their files.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** How the packages of llama.cpp name the processors that Node runs on. */
const processors = { arm: 'armv7l', arm64: 'arm64', x64: 'x64' }

const [installed = fileURLToPath(new URL('../node_modules', import.meta.url))] =
  process.argv.slice(2)

for (const path of unneeded()) rmSync(path, { recursive: true, force: true })
removeSourceMaps(installed)

function unneeded() {
  const nodePackages = join(installed, 'node', 'node_modules')
  const llamaPackages = join(installed, '@node-llama-cpp')
  return [
    // Headers for native addons, which we do not compile.
    ...listFolders(nodePackages).map((name) => join(nodePackages, name, 'include')),
    // The sources of llama.cpp, which we do not compile either: see the daemon's load-model.ts.
    join(installed, 'node-llama-cpp', 'llama', 'gitRelease.bundle'),
    ...listFolders(llamaPackages)
      .filter(isForOtherProcessor)
      .map((name) => join(llamaPackages, name, 'bins')),
  ]
}

/** On x64, npm also installs llama.cpp for ARM, so that it can be copied to such a machine. */
function isForOtherProcessor(name) {
  const own = processors[process.arch]
  return own !== undefined && !name.split('-').includes(own)
}

function removeSourceMaps(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) removeSourceMaps(path)
    else if (entry.isFile() && /\.\w+\.map$/.test(entry.name)) rmSync(path)
  }
}

/** The folders in a folder, without links, such as those to our own packages. */
function listFolders(directory) {
  if (!existsSync(directory)) return []
  const entries = readdirSync(directory, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
