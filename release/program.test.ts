/** Assembles the program from the current sources, and uses it on the oldest supported Node. */
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runsSlowTests, withSlowTests } from '../testing/slow.ts'
import { assemblePortable } from './assemble-portable.ts'
import { assembleProgram, type Program } from './assemble-program.ts'
import { expectOnlyNeeded, listInstalledFiles } from './testing/installed-files.ts'
import { type Command, expectJourney, runJourney } from './testing/journey.ts'
import { makeLibcRoot, standardPath, within } from './testing/libc-root.ts'
import { installOldestNodes } from './testing/oldest-nodes.ts'
import { type RuntimePart, writeSbom } from './write-sbom.ts'

const root = join(import.meta.dirname, '..')
const timeoutMs = 1_200_000
const timeSeconds = 1_700_000_000
const isRoot = process.getuid?.() === 0

describe.runIf(runsSlowTests)(withSlowTests, { timeout: timeoutMs }, () => {
  let folder: string
  /** The root folder in which the program runs, if this process can change it. */
  let place: string
  let program: Program
  let runtime: RuntimePart[]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shoal-program-test-'))
    place = join(folder, 'root')
    const from = join(place, 'assembled')
    await mkdir(from, { recursive: true })
    program = await assembleProgram(root, from)
    runtime = await assemblePortable({
      root,
      from,
      into: join(place, 'shoal'),
      program,
      timeSeconds,
    })
  }, timeoutMs)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('has only the native code that it lists, nothing for graphics cards, and no script that npm runs', async () => {
    expectOnlyNeeded(await listInstalledFiles(join(place, 'shoal', 'program')))
  })

  test('runs on the oldest supported Node, with only a shell and libc if it can have its own root folder', async () => {
    const nodes = await installOldestNodes(folder)
    const entry = 'shoal/program/packages/cli/bin/shoal.js'
    if (!isRoot) {
      const toCommand = (node: string): Command => [node, join(place, entry)]
      const [registry, shoal] = [toCommand(nodes.registry), toCommand(nodes.client)]
      return expectJourney(await runJourney({ registry, shoal, folder }))
    }
    await makeLibcRoot(place, [process.execPath, ...Object.values(nodes)])
    for (const [name, path] of Object.entries(nodes)) await copyFile(path, join(place, 'bin', name))
    const toCommand = (name: keyof typeof nodes): Command => [
      'chroot',
      ...[place, `/bin/${name}`, `/${entry}`],
    ]
    const journey = await runJourney({
      registry: toCommand('registry'),
      shoal: toCommand('client'),
      folder: join(place, 'tmp'),
      inside: within(place),
      env: { PATH: standardPath, LD_LIBRARY_PATH: '/shoal/lib' },
    })
    expectJourney(journey)
  })

  test('the list of contents has Node and each package, with version, license and hash', async () => {
    const path = join(folder, 'shoal.cdx.json')
    await writeSbom({ program, runtime, into: path, timeSeconds })
    const { components } = JSON.parse(await readFile(path, 'utf8')) as {
      components: Record<string, unknown>[]
    }
    expect(components.find(({ name }) => name === 'fastify')).toMatchObject({
      purl: expect.stringMatching(/^pkg:npm\/fastify@5\./),
      licenses: [{ expression: 'MIT' }],
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
    })
    const parts = components.filter(({ name }) => /^(node|libstdc|libgcc)/.test(String(name)))
    expect(parts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['node', 'libstdc++.so.6', 'libgcc_s.so.1']),
    )
    expect(parts.find(({ name }) => name === 'node')).toMatchObject({
      version: process.versions.node,
      hashes: [{ alg: 'SHA-256', content: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    })
    expect(components.length).toBeGreaterThan(300)
  })
})
