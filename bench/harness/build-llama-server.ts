/** Builds llama.cpp's server, to compare the daemon with it. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { availableParallelism, homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { openLlamaSource } from '../../testing/llama-source.ts'

const run = promisify(execFile)
const packages = join(import.meta.dirname, '../../node_modules')
const platform = `linux-${process.arch}`
const libraries = join(packages, '@node-llama-cpp', platform, 'bins', platform)
const { version } = JSON.parse(
  readFileSync(join(packages, 'node-llama-cpp/package.json'), 'utf8'),
) as { version: string }
const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')

/** The path of the server that `buildLlamaServer` has built for the installed version of llama.cpp. */
export const builtLlamaServer = join(cache, `shoal/llama-server-${version}/llama-server`)

type SourceGroup = { sources: string[]; options: string[] }

/**
 * Builds the server from the sources in the package `node-llama-cpp`, unless it has been built before. The server uses
 * copies of the daemon's libraries, so that both compute with the same machine code. Needs git and g++.
 */
export async function buildLlamaServer(say: (line: string) => void): Promise<void> {
  if (existsSync(builtLlamaServer)) return
  say('building llama-server, which takes several minutes')
  await using source = await openLlamaSource()
  const { path, buildPath } = source
  const objects: string[] = []
  const compiling = await listSources(path, buildPath)
  const work = async () => {
    for (let one = compiling.shift(); one; one = compiling.shift()) {
      const object = join(buildPath, `${objects.length}-${basename(one.source)}.o`)
      objects.push(object)
      await run('g++', ['-std=c++17', '-w', '-c', ...one.options, one.source, '-o', object])
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))

  const folder = dirname(builtLlamaServer)
  await mkdir(dirname(folder), { recursive: true })
  const draft = await mkdtemp(`${folder}-`)
  try {
    const shared = await readdir(libraries).then((names) => names.filter(isLibrary))
    for (const name of shared) await copyFile(join(libraries, name), join(draft, name))
    const linked = shared.filter((name) => !name.startsWith('libggml-cpu-'))
    const paths = linked.map((name) => join(draft, name))
    const rpath = '-Wl,-rpath,$ORIGIN'
    await run('g++', [...objects, ...paths, rpath, '-pthread', '-o', join(draft, 'llama-server')])
    await rename(draft, folder)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

const isLibrary = (name: string) => /^lib.*\.so$/.test(name)

/** Lists the server's source files with the compiler's options for each. */
async function listSources(path: string, buildPath: string) {
  const embed = join(buildPath, 'embed')
  await run('g++', ['-std=c++17', '-w', join(path, 'tools/ui/embed.cpp'), '-o', embed])
  const ui = join(buildPath, 'ui.cpp')
  await run(embed, [ui, join(buildPath, 'ui.h')]) // generates an empty table of web pages
  const cppFiles = async (folder: string) => {
    const names = await readdir(join(path, folder))
    return names.filter((name) => name.endsWith('.cpp')).map((name) => join(path, folder, name))
  }
  const folders = ['common', 'include', 'ggml/include', 'vendor', 'src', 'tools/mtmd', '.']
  const include = [...folders.map((folder) => `-I${join(path, folder)}`), `-I${buildPath}`]
  const server = await cppFiles('tools/server')
  const multimodal = [...(await cppFiles('tools/mtmd')), ...(await cppFiles('tools/mtmd/models'))]
  const hasNoMain = (file: string) => !/-(cli|warning)\.cpp$/.test(file)
  const groups: SourceGroup[] = [
    { sources: server, options: ['-O2'] },
    {
      sources: [join(path, 'vendor/cpp-httplib/httplib.cpp'), ui],
      options: ['-O2', '-DCPPHTTPLIB_TCP_NODELAY=1', '-DCPPHTTPLIB_LISTEN_BACKLOG=512'],
    },
    // Not optimized, because the benchmarks send neither images nor audio.
    {
      sources: [...multimodal.filter(hasNoMain), join(path, 'vendor/hash/hash.cpp')],
      options: ['-O0', `-I${join(path, 'vendor/hash')}`],
    },
    {
      sources: [join(path, 'vendor/hash/sha256/sha256.c')],
      options: ['-x', 'c', `-I${join(path, 'vendor/hash')}`],
    },
  ]
  return groups.flatMap(({ sources, options }) =>
    sources.map((source) => ({ source, options: [...include, ...options] })),
  )
}
