import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { pathWith } from '../../testing/programs.ts'

const root = join(import.meta.dirname, '../..')

const demoFile = 'shoal-tiny-Q8_0.gguf'
const demoBytes = () => readFileSync(join(root, 'models/shoal-tiny', demoFile))

/** The expected stdout of each command of the tour. */
const tour: Record<string, RegExp> = {
  './shoal search tiny': /shoal-tiny .*llama/,
  './shoal show shoal-tiny': /^Q8_0 .*MB/m,
  './shoal pull shoal-tiny': /shoal-tiny-Q8_0\.gguf\n$/,
  './shoal run shoal-tiny "Hello"': /\w/,
  './shoal register': /^/,
  './shoal push some.gguf': /\/m\/some\n$/,
  './shoal edit some --license mit': /\/m\/some\n$/,
  './shoal keys new laptop': /^hf_[0-9A-Za-z]{43}\n$/,
  './shoal verify': /shoal-tiny/,
  'aria2c --seed-time=0 "$(./shoal link shoal-tiny)"': /download completed/,
}

/** Returns the commands between the heading of the tour and the next heading, without their comments. */
function readTour(): string[] {
  const [, section = ''] =
    /^## Quick tour\n(.*?)^## /ms.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
  const blocks = [...section.matchAll(/^```\n(.*?)^```/gms)].map(([, block = '']) => block)
  const lines = blocks.flatMap((block) => block.trimEnd().split('\n'))
  return lines.flatMap((line) => /^(?:\.\/shoal|aria2c) .*?(?=\s*(?:#|$))/.exec(line) ?? [])
}

/** Simulates a terminal with its own folder, home and environment, in which commands are typed. */
function openShell(env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-tour-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const home = join(folder, 'home')
  mkdirSync(home)

  async function type(command: string, input = '') {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: folder,
      env: {
        PATH: pathWith('aria2c'),
        HOME: home,
        SHOAL_HOME: home,
        SHOAL_THREADS: '1',
        NO_COLOR: '1',
        ...env,
      },
    })
    child.stdin.end(input)
    const exit = new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit])
    expect(code, `${command}\n${stdout}${stderr}`).toBe(0)
    return stdout
  }

  return { folder, type }
}

/**
 * Publishes the demo model, as `scripts/cluster up` instructs, and then runs each command of the quick tour in
 * README.md. Requires aria2c.
 *
 * @param instructions what `scripts/cluster up` has printed to stderr
 */
export async function takeTour(url: string, instructions: string): Promise<void> {
  const hint = instructions.split('\n').flatMap((line) => /^ {2}(\S.*)$/.exec(line)?.[1] ?? [])
  const [setting, register, push] = hint
  expect([setting, register]).toEqual([`export SHOAL_REGISTRY=${url}`, './shoal register'])

  const asAccount = (name: string) => ` --username ${name} --password-stdin`
  const publisher = openShell({ SHOAL_REGISTRY: url })
  for (const name of ['models', 'shoal']) {
    symlinkSync(join(root, name), join(publisher.folder, name))
  }
  await publisher.type(`${register}${asAccount('demo')}`, 'password of demo')
  await publisher.type(push ?? '')

  const user = openShell({ SHOAL_REGISTRY: url })
  symlinkSync(join(root, 'shoal'), join(user.folder, 'shoal'))
  copyFileSync(join(root, 'models/shoal-nano/shoal-nano-Q8_0.gguf'), join(user.folder, 'some.gguf'))
  expect(readTour()).toEqual(Object.keys(tour))
  for (const [command, output] of Object.entries(tour)) {
    const isRegistration = command.endsWith('register')
    const printed = isRegistration
      ? await user.type(`${command}${asAccount('ana')}`, 'password of ana')
      : await user.type(command)
    expect(printed, command).toMatch(output)
  }
  expect(readFileSync(join(user.folder, demoFile)).equals(demoBytes())).toBe(true)
}
