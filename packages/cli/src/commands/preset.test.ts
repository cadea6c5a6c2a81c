import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { putModelFile } from '../testing/local-files.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { modelScript, sampleModel } from '../testing/samples.ts'
import { scriptedRegistry } from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

async function start() {
  const home = await makeHome()
  await putModelFile(join(home.models, 'tide-7b', 'tide-7b-Q8_0.gguf'))
  const preset = (...words: string[]) =>
    shoalHere(['preset', 'tide-7b', ...words], { home: home.path })
  return { ...home, preset }
}

test('preset saves the settings of a model, shows them, and removes those with empty values', async () => {
  await using home = await start()
  const { preset } = home
  expect((await preset()).stdout).toBe('tide-7b has no settings of its own.\n')
  const template = join(home.path, 'template.jinja')
  await writeFile(template, '{{ messages }}')
  const words = ['--temperature', '0.2', '--context-length', '8192', '--stop', 'END', '--stop', 'X']
  const others = ['--system', 'Be kind.', '--keep-alive', '2h', '--alias', 'gpt-4o']
  await preset(...words, ...others, '--template', template)
  expect(JSON.parse((await preset('--json')).stdout)).toEqual({
    model: 'tide-7b',
    parameters: { temperature: 0.2, num_ctx: 8192, stop: ['END', 'X'] },
    system: 'Be kind.',
    template: '{{ messages }}',
    keep_alive: '2h',
    aliases: ['gpt-4o'],
  })
  const ofAlias = await shoalHere(['path', 'gpt-4o'], { home: home.path })
  expect(ofAlias.stdout).toBe(`${join(home.models, 'tide-7b', 'tide-7b-Q8_0.gguf')}\n`)
  await using registry = await scriptedRegistry(modelScript(sampleModel(), []))
  const at = { home: home.path, registry: registry.address }
  expect((await shoalHere(['show', 'gpt-4o'], at)).stdout).toMatch(/^tide-7b /)
  await preset('--temperature', '', '--stop', '', '--alias', '', '--template', '')
  expect((await preset()).stdout).toBe(
    'num_ctx            8192\nkeep_alive         2h\nsystem             Be kind.\n',
  )
  expect((await shoalHere(['show', 'tide-7b'], at)).stdout).toContain(
    'Settings on this machine:\nnum_ctx            8192\n',
  )
  await preset('--reset', '--seed', '7')
  expect((await preset()).stdout).toBe('seed               7\n')
})

test.each([
  [['--temperature', 'hot'], '“hot” is not a number from 0 to 100.'],
  [['--context-length', '8.5'], '“8.5” is not a whole number from 64 to 16777216.'],
  [['--keep-alive', 'soon'], '“soon” is not a valid keep-alive time.'],
  [['--alias', 'a/b'], 'a/b'],
])('preset %j is refused', async (words, message) => {
  await using home = await start()
  const { stderr, exitCode } = await home.preset(...words)
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
})
