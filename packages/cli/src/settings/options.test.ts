import { daemonSettings } from '@shoal/daemon/settings'
import { registrySettings } from '@shoal/registry/settings'
import { expect, test } from 'vitest'
import { shoalHere } from '../testing/shoal-here.ts'
import { cliSettings } from './settings.ts'

const help = async (words: readonly string[]) => {
  const { stdout } = await shoalHere([...words, '--help'], { home: '/nowhere' })
  return stdout
}

test.each([
  [[], cliSettings],
  [['registry'], registrySettings],
  [['up'], registrySettings],
  [['serve'], daemonSettings],
])('the help of shoal %j lists its variables', async (words, table) => {
  const [, variables = ''] = (await help(words)).split('\nVariables:\n')
  for (const { variable } of Object.values(table)) expect(variables).toContain(`  ${variable} `)
  expect(variables).not.toContain('undefined')
})

test('flags are described with their defaults', async () => {
  expect(await help(['registry'])).toMatch(/--port <number> +port to listen on \(default: 8000\)/)
  expect(await help(['serve'])).toMatch(/--port <number> +port to listen on \(default: 11434\)/)
})
