import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forgetCredential, saveCredential } from '../settings/credentials.ts'
import { readPlaces } from '../settings/places.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { otherRegistries } from './other-registries.ts'

const current = 'http://localhost:8000'
const lab = 'https://lab.example'
const credential = (token: string) => ({ token, username: 'ana', expires_at: null })

test('the known registries are the current one, the saved one, and those where the user is signed in', async () => {
  await using home = await makeHome()
  const env = { SHOAL_HOME: home.path, SHOAL_TOKEN: 'own-token' }
  const places = readPlaces(env)
  const read = otherRegistries({
    config: { path: join(places.config, 'config.json'), values: { registry: 'saved.example' } },
    environment: { env },
    places,
    registryAddress: current,
  })
  const first = { address: current, token: 'own-token' }
  const saved = { address: 'https://saved.example', token: undefined }
  expect(await read()).toEqual([first, saved])

  await saveCredential(places, lab, credential('lab-token'))
  await saveCredential(places, current, credential('other-token'))
  expect(await read()).toEqual([first, saved, { address: lab, token: 'lab-token' }])
  await forgetCredential(places, lab)
  expect(await read()).toEqual([first, saved])
})
