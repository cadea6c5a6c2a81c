import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import type { CliEnvironment } from './environment.ts'
import { shoalProgram } from './program.ts'

const { stdout, stderr } = process
const program = (...words: string[]) =>
  shoalProgram(
    () => Promise.reject(new Error('not run')),
    { stdout, stderr } as unknown as CliEnvironment,
    words,
  )
const list = ({ commands }: Command) => commands.map((one) => one.name())
const all = list(await program())

describe('the program has', () => {
  test.each(all)('only the command %s if the command line begins with it', async (name) => {
    expect(list(await program(name, '--json', 'search'))).toEqual([name])
  })

  test('only the command ls if the line begins with its alias list, which completion does not suggest', async () => {
    expect(list(await program('list', '--json'))).toEqual(['ls'])
    expect(all).not.toContain('list')
  })

  test.each([
    ['nothing'],
    ['a misspelt command', 'serch'],
    ['the help', '--help'],
    ['the help of a command', 'help', 'search'],
    ['options before the command', '--registry', 'search', 'ls'],
    ['an option and the version', '--version', 'search'],
  ])('all commands for %s', async (_, ...words) => {
    expect(list(await program(...words))).toEqual(all)
  })

  test('all commands if the command line begins with the hidden completion command', async () => {
    expect(list(await program('__complete', 'shoal '))).toEqual([...all, '__complete'])
  })

  test.each(['-V', '--version'])('no commands for %s', async (option) => {
    expect(list(await program(option))).toEqual([])
  })
})
