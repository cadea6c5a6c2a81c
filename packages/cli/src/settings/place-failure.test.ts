import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runsSlowTests } from '../../../../testing/slow.ts'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome, runShoal } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'
import { placeFailure } from './place-failure.ts'
import { readPlaces } from './places.ts'

const advice =
  '  shoal needs to store files at this path. Make the path writable, or set SHOAL_HOME to another folder.\n'

const commands = [
  ['config', 'set', 'ratio', '2'],
  ['login', '--token-stdin'],
  ['serve', '--port', '0'],
  ['serve', '--port', '0', '--detach'],
  ['pull', 'tide', '--no-peers'],
]

test.runIf(runsSlowTests && process.platform === 'linux')(
  'every command that writes files reports a home in which folders cannot be created',
  async () => {
    await using registry = await realRegistry()
    await registry.publish('tide', 300_000)
    await using cwd = await makeHome()
    for (const words of commands) {
      const { stderr, exitCode } = await runShoal(words, {
        home: '/proc/home',
        cwd: cwd.path,
        input: registry.token,
        env: { SHOAL_REGISTRY: registry.url },
      })
      expect(stderr, words.join(' ')).toContain(
        `✗ The folder /proc/home cannot be created: its file system does not allow new folders.\n${advice}`,
      )
      expect(exitCode).toBe(1)
    }
  },
)

test.runIf(process.platform === 'linux').each(['registry', 'up'])(
  'shoal %s fails immediately if its data folder cannot be created',
  async (command) => {
    await using home = await makeHome()
    const words = [command, '--port', '0', '--data', '/proc/shoal/data']
    const { stderr, exitCode } = await shoalHere(words, { home: home.path })
    expect(stderr).toContain(
      '✗ The folder /proc/shoal cannot be created: its file system does not allow new folders.\n  Choose another path.\n',
    )
    expect(exitCode).toBe(1)
  },
)

test.runIf(runsSlowTests && process.platform === 'linux')(
  'read-only commands work without a usable home',
  async () => {
    await using registry = await realRegistry()
    await registry.publish('tide', 300_000)
    const shoal = (...words: string[]) =>
      shoalHere(words, { home: '/proc/home', registry: registry.url })
    expect(await shoal('search', 'tide')).toMatchObject({
      stdout: expect.stringContaining('tide'),
      exitCode: 0,
    })
    expect(await shoal('completion', 'bash')).toMatchObject({
      stdout: expect.stringContaining('shoal'),
      exitCode: 0,
    })
    // On a busy machine, the registry may respond too late for a completion.
    await expect
      .poll(() => shoal('__complete', 'shoal pull ti'))
      .toMatchObject({ stdout: expect.stringContaining('tide'), exitCode: 0 })
  },
)

test('if the home is a file, the error contains its path', async () => {
  await using home = await makeHome()
  const file = join(home.path, 'file')
  await writeFile(file, '')
  const { stderr } = await shoalHere(['config', 'set', 'ratio', '2'], { home: file })
  expect(stderr).toBe(
    `✗ The folder ${join(file, 'config')} cannot be used: part of its path is not a folder.\n${advice}`,
  )
})

test.runIf(process.platform === 'linux').each([
  ['/proc/shoal/', '/proc/shoal cannot be created: its file system does not allow new folders'],
  ['/dev/null/tide.gguf', '/dev/null cannot be created: a file with this name exists'],
  ['/dev/null/shoal/', '/dev/null cannot be created: a file with this name exists'],
])('pull to %s fails immediately with the reason', async (output, words) => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  await registry.publish('tide', 300_000)
  const { stderr, exitCode } = await shoalHere(['pull', 'tide', '--no-peers', '-o', output], {
    home: home.path,
    registry: registry.url,
  })
  expect(stderr).toContain(`✗ The folder ${words}.\n  Choose another path.\n`)
  expect(exitCode).toBe(1)
})

test.each([
  ['ENOTCONN', 'open', '/m/x', 'The folder /m cannot be used: its network disk is not connected.'],
  ['EIO', 'read', undefined, 'A file cannot be read or written: the disk reported an error.'],
  ['EMFILE', 'scandir', '/m', 'The folder /m cannot be used: too many files are open.'],
  ['ECONNRESET', 'read', undefined, undefined],
])(
  '%s is explained with its path, unless it is not about a file',
  (code, syscall, path, sentence) => {
    const error = Object.assign(new Error(code), { code, syscall, path })
    const failure = placeFailure(error, readPlaces({ SHOAL_HOME: '/home' }))
    expect(failure?.message).toBe(sentence)
    expect(failure?.hint).toEqual(sentence && expect.stringMatching(/again|Check|ulimit/))
  },
)
