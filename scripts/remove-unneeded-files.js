// After npm ci, deletes 300 MB of files that dependencies contain and our programs never read: npm always installs
// complete packages. Also runs on old Node.js versions.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The processor names in llama.cpp's package names, by Node's name for the processor. */
const processors = { arm: 'armv7l', arm64: 'arm64', x64: 'x64' }

/** TypeScript sources of packages that are imported in compiled form, copies for CommonJS, documentation, and tests. */
const unusedFolders = [
  '@ai-sdk/anthropic/src',
  '@ai-sdk/gateway/src',
  '@ai-sdk/openai-compatible/src',
  '@ai-sdk/provider/src',
  '@ai-sdk/provider-utils/src',
  '@anthropic-ai/sdk/src',
  '@zxcvbn-ts/language-common/src',
  'ai/docs',
  'ai/src',
  'bintrees/test',
  'fastify/test',
  'highlight.js/scss',
  'highlight.js/styles',
  'katex/contrib',
  'katex/dist/contrib',
  'katex/dist/fonts',
  'katex/src',
  'openai/src',
  'zod/src',
]

const [installed = fileURLToPath(new URL('../node_modules', import.meta.url))] =
  process.argv.slice(2)

for (const path of unneeded()) rmSync(path, { recursive: true, force: true })
// Licenses must stay, also in Markdown.
removeFilesNamed(/\.\w+\.map$|\.bare$|^(?!.*(licen[cs]e|notice|copying)).*\.md$/i, installed)

function unneeded() {
  const nodePackages = join(installed, 'node', 'node_modules')
  const llamaPackages = join(installed, '@node-llama-cpp')
  return [
    // Headers are needed only to compile native addons, which we do not do.
    ...listFolders(nodePackages).map((name) => join(nodePackages, name, 'include')),
    // The sources of llama.cpp are not needed, because we do not compile it (see the daemon's load-model.ts).
    join(installed, 'node-llama-cpp', 'llama', 'gitRelease.bundle'),
    ...unusedFolders.map((path) => join(installed, path)),
    // Types for alternative names of icons, which no page uses.
    ...['prefixed', 'suffixed'].map((name) =>
      join(installed, `lucide-react/dist/lucide-react.${name}.d.ts`),
    ),
    // LangChain, which the tests use, imports only js-tiktoken/lite, without the vocabularies.
    ...['ranks', 'index.js', 'index.cjs'].map((name) => join(installed, 'js-tiktoken/dist', name)),
    // The other builds of KaTeX, and its styles, which MathML does not need.
    ...['css', 'js', 'min.css', 'min.js'].map((end) => join(installed, `katex/dist/katex.${end}`)),
    ...['css', 'min.css'].map((end) => join(installed, `katex/dist/katex-swap.${end}`)),
    ...listFolders(llamaPackages)
      .filter(isForOtherProcessor)
      .map((name) => join(llamaPackages, name, 'bins')),
  ]
}

/**
 * Whether a package is for another processor. On x64, npm also installs llama.cpp for ARM, because the installation may
 * be copied to an ARM machine.
 */
function isForOtherProcessor(name) {
  const own = processors[process.arch]
  return own !== undefined && !name.split('-').includes(own)
}

/** Removes files such as source maps, READMEs, and native addons for Bare (`.bare`), another JavaScript runtime. */
function removeFilesNamed(pattern, directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) removeFilesNamed(pattern, path)
    else if (entry.isFile() && pattern.test(entry.name)) rmSync(path)
  }
}

/** Returns the folders in a folder. Omits links, because they point to our own packages. */
function listFolders(directory) {
  if (!existsSync(directory)) return []
  const entries = readdirSync(directory, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
