import { expect, test } from 'vitest'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'
import { aboutUnknownVariables } from './unknown-variables.ts'

test.each([
  ['SHOAL_QOUTA', ' Did you mean SHOAL_QUOTA?'],
  ['SHOAL_PROT', ' Did you mean SHOAL_PORT?'],
  ['SHOAL_KEEPALIVE', ' Did you mean SHOAL_KEEP_ALIVE?'],
  ['SHOAL_TOKEN_FIEL', ' Did you mean SHOAL_TOKEN_FILE?'],
  ['SHOAL_FISH_TANK', ''],
])('there is a warning about %s', (name, hint) => {
  const about = `${name} is not a shoal setting.${hint}`
  expect(aboutUnknownVariables({ [name]: '1' })).toEqual([about])
})

test('there is no warning about the settings of any shoal program, the tests or other software', () => {
  const env = {
    SHOAL_CLUSTER_DIR: '',
    SHOAL_QUOTA: '',
    SHOAL_SLOTS: '',
    SHOAL_CA_FILE: '',
    SHOAL_HOME: '',
  }
  expect(aboutUnknownVariables({ ...env, SHOAL_TEST_SLOW: '1', SHOALS: '', PATH: '' })).toEqual([])
})

test('a command warns once, on stderr, and then runs as usual', async () => {
  await using home = await makeHome()
  const at = { home: home.path, env: { SHOAL_REGISTRI: 'x' } }
  const warning = 'SHOAL_REGISTRI is not a shoal setting. Did you mean SHOAL_REGISTRY?'
  const plain = await shoalHere(['config', 'ls', '--json'], at)
  expect(plain).toEqual({ stdout: '{}\n', stderr: `! ${warning}\n`, exitCode: 0 })
  const { stderr } = await shoalHere(['config', 'ls', '--progress=json'], at)
  expect(JSON.parse(stderr)).toEqual({ type: 'warning', message: `! ${warning}` })
})

test.each([[['__complete', 'shoal con']], [['completion', 'bash']]])(
  '%j prints no warning about unknown variables',
  async (words) => {
    await using home = await makeHome()
    const { stderr, exitCode } = await shoalHere(words, { home: home.path, env: { SHOAL_X: '' } })
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  },
)
