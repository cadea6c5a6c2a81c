import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { putModelFile } from '../testing/local-files.ts'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome, runShoal } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

const filename = 'tide-Q8_0.gguf'

test('if a model folder is a symbolic link, only the link is removed', async () => {
  await using home = await makeHome()
  const elsewhere = join(home.path, 'elsewhere')
  await putModelFile(join(elsewhere, filename))
  await mkdir(home.models, { recursive: true })
  const folder = join(home.models, 'tide')
  await symlink(elsewhere, folder)
  const keeps = `  ${folder} is only a link. The contents of ${elsewhere} will be kept.\n`
  const asked = await shoalHere(['rm', 'tide'], { home: home.path })
  expect(asked.stderr).toContain(
    `${keeps}✗ Confirmation is required, but shoal is not running interactively: Delete tide:Q8_0`,
  )
  expect(asked.stderr).toContain('This frees 0 B.')

  const { stderr, stdout, exitCode } = await shoalHere(['rm', 'tide', '--yes', '--json'], {
    home: home.path,
  })
  expect(exitCode).toBe(0)
  expect(stderr).toContain('✓ Deleted tide:Q8_0. 0 B freed.\n')
  expect(stderr).toContain(`The contents of ${elsewhere} were kept.`)
  expect(JSON.parse(stdout)).toEqual({
    removed: ['tide:Q8_0'],
    freed_bytes: 0,
    removed_links: [{ path: folder, target: elsewhere }],
    hard_linked: [],
    kept_folders: [],
  })
  expect(existsSync(folder)).toBe(false)
  expect(await readdir(elsewhere)).toEqual([filename])
})

test.each([
  ['tide', 'tide'],
  ['localhost+8000/tide', 'localhost:8000/tide'],
])(
  'a link to a folder of several files is not removed with one of them (%s)',
  async (folder, name) => {
    await using home = await makeHome()
    const elsewhere = join(home.path, 'elsewhere')
    for (const label of ['Q4_0', 'Q8_0']) await putModelFile(join(elsewhere, `tide-${label}.gguf`))
    const link = join(home.models, folder)
    await mkdir(dirname(link), { recursive: true })
    await symlink(elsewhere, link)
    const one = await shoalHere(['rm', `${name}:Q4_0`, '--yes'], { home: home.path })
    expect(one.stderr).toBe(
      `✗ The file cannot be deleted separately: ${link} is a link to ${elsewhere}, which also contains other files.\n` +
        `  To delete the link, delete the whole model: shoal rm ${name}\n`,
    )
    expect(one.exitCode).toBe(1)
    expect((await shoalHere(['rm', name, '--yes'], { home: home.path })).exitCode).toBe(0)
    expect(await readdir(elsewhere)).toHaveLength(2)
  },
)

test('if a file is a link, only the link is removed', async () => {
  await using home = await makeHome()
  const target = join(home.path, 'elsewhere', 'weights.gguf')
  await putModelFile(target)
  const path = join(home.models, 'tide', filename)
  await mkdir(join(home.models, 'tide'), { recursive: true })
  await symlink(target, path)
  const { stderr } = await shoalHere(['rm', 'tide', '--yes'], { home: home.path })
  expect(stderr).toContain('✓ Forgot tide:Q8_0.\n')
  expect(stderr).toContain(`${path} is only a link. The contents of ${target} were kept.`)
  expect(await readdir(home.models)).toEqual([])
  expect(existsSync(target)).toBe(true)
})

test('if the folder of records is a link, rm does not delete the files in its target', async () => {
  await using home = await makeHome()
  const elsewhere = join(home.path, 'elsewhere')
  await mkdir(elsewhere)
  await writeFile(join(elsewhere, `${filename}.json`), 'of somebody else')
  await putModelFile(join(home.models, 'tide', filename))
  await symlink(elsewhere, join(home.models, 'tide', '.shoal'))
  const { exitCode } = await shoalHere(['rm', 'tide', '--yes'], { home: home.path })
  expect(exitCode).toBe(0)
  expect(await readdir(home.models)).toEqual([])
  expect(await readdir(elsewhere)).toEqual([`${filename}.json`])
})

test('rm works if the models folder itself is a link to a larger disk', async () => {
  await using home = await makeHome()
  const large = join(home.path, 'large')
  await putModelFile(join(large, 'tide', filename))
  await mkdir(join(home.path, 'data'))
  await symlink(large, home.models)
  const { stderr } = await shoalHere(['rm', 'tide', '--yes'], { home: home.path })
  expect(stderr).toMatch(/^✓ Deleted tide:Q8_0\. 9\d\d KB freed\.\n$/)
  expect(await readdir(large)).toEqual([])
  expect((await lstat(home.models)).isSymbolicLink()).toBe(true)
})

test('removing one of two hard links frees nothing, and removing both counts the file once', async () => {
  await using home = await makeHome()
  const path = join(home.models, 'tide', filename)
  await putModelFile(path)
  const other = join(home.path, 'other.gguf')
  await link(path, other)
  const first = await shoalHere(['rm', 'tide', '--yes'], { home: home.path })
  expect(first.stderr).toBe(
    `✓ Deleted tide:Q8_0. 0 B freed.\n  ${filename} has other hard links, so its contents were kept on the disk.\n`,
  )
  for (const name of ['one', 'two']) {
    await mkdir(join(home.models, name), { recursive: true })
    await link(other, join(home.models, name, filename))
  }
  await rename(other, join(home.models, 'two', 'tide-Q4_0.gguf'))
  const all = await shoalHere(['rm', 'one', 'two', '--yes'], { home: home.path })
  expect(all.stderr).toMatch(/ 9\d\d KB freed\.\n$/)
})

test('for a sparse file, only the space it occupies counts as freed', async () => {
  await using home = await makeHome()
  const partial = join(home.models, 'tide', `${filename}.part`)
  await mkdir(join(home.models, 'tide'), { recursive: true })
  await writeFile(partial, Buffer.alloc(8192, 1))
  await truncate(partial, 10e9)
  const bytes = (await stat(partial)).blocks * 512
  const { stdout } = await shoalHere(['rm', 'tide', '--yes', '--json'], { home: home.path })
  expect(JSON.parse(stdout)).toMatchObject({ freed_bytes: bytes })
})

test('other files in a model folder are kept and reported', async () => {
  await using home = await makeHome()
  const folder = join(home.models, 'tide')
  await putModelFile(join(folder, filename))
  await writeFile(join(folder, 'README.md'), 'mine')
  const { stderr } = await shoalHere(['rm', 'tide', '--yes'], { home: home.path })
  expect(stderr).toContain(`  Kept: ${folder}, which also contains README.md.\n`)
  expect(await readdir(folder)).toEqual(['README.md'])
})

test('after a failed removal, the model is still listed and can be removed', async () => {
  await using home = await makeHome()
  const path = join(home.models, 'tide', filename)
  await putModelFile(path)
  const inTheWay = join(home.models, 'tide', '.shoal', `${filename}.torrent`)
  await mkdir(inTheWay, { recursive: true })
  expect((await shoalHere(['rm', 'tide', '--yes'], { home: home.path })).exitCode).toBe(1)
  expect((await shoalHere(['ls'], { home: home.path })).stdout).toContain('tide:Q8_0')
  execFileSync('rmdir', [inTheWay])
  expect((await shoalHere(['rm', 'tide', '--yes'], { home: home.path })).exitCode).toBe(0)
  expect(await readdir(home.models)).toEqual([])
})

test('two concurrent removals of a model count the freed space once', async () => {
  await using home = await makeHome()
  await putModelFile(join(home.models, 'tide', filename))
  const words = ['rm', 'tide', '--yes', '--json']
  const both = await Promise.all([1, 2].map(() => runShoal(words, { home: home.path })))
  const freed = both.map(({ stdout }) => JSON.parse(stdout).freed_bytes ?? 0)
  expect(freed.filter((bytes) => bytes > 0)).toHaveLength(1)
  expect(await readdir(home.models)).toEqual([])
})

test('if one of the models is being pulled, rm removes none of them', async () => {
  await using home = await makeHome()
  const paths = ['one', 'two'].map((name) => join(home.models, name, filename))
  for (const path of paths) await putModelFile(path)
  const hidden = join(home.models, 'two', '.shoal')
  await mkdir(hidden)
  using lock = new DatabaseSync(join(hidden, `${filename}.lock`))
  lock.exec('BEGIN EXCLUSIVE')
  const { stderr, exitCode } = await shoalHere(['rm', 'one', 'two', '--yes'], { home: home.path })
  expect(stderr).toBe(
    `✗ ${paths[1]} is being downloaded or copied.\n` +
      '  Nothing was deleted. Try again when the other command has finished.\n',
  )
  expect(exitCode).toBe(1)
  expect(paths.every((path) => existsSync(path))).toBe(true)
})

test('the error for an unreadable model states the reason', async () => {
  await using home = await makeHome()
  await mkdir(home.models, { recursive: true })
  await symlink('tide', join(home.models, 'tide'))
  const { stderr, exitCode } = await shoalHere(['rm', 'tide', '--yes'], { home: home.path })
  expect(stderr).toBe(
    `✗ ${join(home.models, 'tide')} cannot be read: it is part of a loop of links.\n`,
  )
  expect(exitCode).toBe(1)
})

test('neither a pull nor a repair writes through a link', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  await registry.publish('tide', 300_000)
  const options = { home: home.path, registry: registry.url }
  const folder = join(home.models, 'tide')
  const precious = join(home.path, 'precious')
  await writeFile(precious, 'precious')
  await mkdir(folder, { recursive: true })
  await symlink(precious, join(folder, 'tide.gguf.part'))
  const pulled = await shoalHere(['pull', 'tide', '--no-peers'], options)
  expect(pulled.stderr).toContain(
    `tide.gguf.part is a link to ${precious}; shoal does not change the targets of links.\n`,
  )
  expect(pulled.exitCode).toBe(1)
  expect(await readFile(precious, 'utf8')).toBe('precious')

  await shoalHere(['rm', 'tide', '--yes'], options)
  expect((await shoalHere(['pull', 'tide', '--no-peers'], options)).exitCode).toBe(0)
  const elsewhere = join(home.path, 'elsewhere')
  await rename(folder, elsewhere)
  await symlink(elsewhere, folder)
  const damaged = Buffer.alloc(300_000, 7)
  await writeFile(join(elsewhere, 'tide.gguf'), damaged)
  const repaired = await shoalHere(['verify', 'tide', '--repair'], options)
  expect(repaired.stderr).toContain(
    `${folder} is a link to ${elsewhere}; shoal does not change the targets of links.\n`,
  )
  expect(await readFile(join(elsewhere, 'tide.gguf'))).toEqual(damaged)

  await rm(elsewhere, { recursive: true })
  await mkdir(elsewhere)
  const again = await shoalHere(['pull', 'tide', '--no-peers'], options)
  expect(again.stderr).toContain(`${folder} is a link to ${elsewhere}`)
  expect(await readdir(elsewhere)).toEqual([])
})
