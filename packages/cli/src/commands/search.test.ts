import { expect, test } from 'vitest'
import { makeHome } from '../testing/run-shoal.ts'
import { sampleModel } from '../testing/samples.ts'
import { scriptedRegistry } from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('models are listed in a table with short counts', async () => {
  await using home = await makeHome()
  const unknown = { parameter_count: null, context_length: null, min_file_size_bytes: null }
  await using registry = await scriptedRegistry({
    'GET /v1/models': {
      body: [sampleModel(), sampleModel({ name: 'cod', likes: 0, downloads: 7, ...unknown })],
    },
  })
  const { stdout } = await shoalHere(['search'], { home: home.path, registry: registry.address })
  expect(stdout.split('\n')).toEqual([
    'MODEL    PARAMS  ARCH   CONTEXT     FROM  DOWNLOADS  LIKES  LICENSE',
    'tide-7b    7.2B  llama      32K  4.37 GB     414.8K   3.9K  apache-2.0',
    'cod           –  llama        –        –          7      0  apache-2.0',
    '',
  ])
})

test('filters become parameters of the request', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({ 'GET /v1/models': { body: [] } })
  const words = ['search', '--arch', 'llama', '--tag', 'chat', '--tag', 'tiny', '--owner', 'ines']
  const more = [
    '--license',
    'mit',
    '--fits',
    '7.8 GB',
    '--context-length',
    '32768',
    '--sort',
    'likes',
    '--limit',
    '5',
    'big',
    'fish',
  ]
  await shoalHere([...words, ...more], { home: home.path, registry: registry.address })
  expect([...(registry.asked[0]?.query ?? [])].toSorted()).toEqual([
    ['architecture', 'llama'],
    ['context_length', '32768'],
    ['license', 'mit'],
    ['limit', '5'],
    ['max_memory_bytes', String(Math.floor((7.8 * 1024 ** 3) / 2))],
    ['owner', 'ines'],
    ['q', 'big fish'],
    ['sort', 'likes'],
    ['tag', 'chat'],
    ['tag', 'tiny'],
  ])
})

test('a context length without --fits is refused', async () => {
  await using home = await makeHome()
  const outcome = await shoalHere(['search', '--context-length', '32768'], { home: home.path })
  expect(outcome.exitCode).toBe(2)
  expect(outcome.stderr).toContain('--context-length has no effect without --fits.')
})

test('a search without results is reported on stderr and is not a failure', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({ 'GET /v1/models': { body: [] } })
  const outcome = await shoalHere(['search', 'x'], {
    home: home.path,
    registry: registry.address,
  })
  expect(outcome).toEqual({
    stdout: '',
    stderr: `No models found on ${registry.label}.\n`,
    exitCode: 0,
  })
})

test('if not all results are listed, search prints the total', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({
    'GET /v1/models': { body: [sampleModel()], headers: { 'x-total-count': '200' } },
  })
  const options = { home: home.path, registry: registry.address }
  expect((await shoalHere(['search'], options)).stderr).toContain('Showing 1 of 200.')
  expect((await shoalHere(['search', '-q'], options)).stderr).toBe('')
})

test('an unknown sort order is refused, and the valid ones are listed', async () => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['search', '--sort', 'age'], { home: home.path })
  expect(stderr).toBe(
    '✗ “age” is not valid for --sort.\n  Valid values: downloads, likes, created_at, relevance.\n',
  )
  expect(exitCode).toBe(2)
})
