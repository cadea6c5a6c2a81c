import { fileSetExamples } from '@shoal/core/testing'
import { fileChoices } from '@shoal/model-file/choices'
import { expect, test } from 'vitest'
import { knownRegistries } from './known-registries.ts'

const address = 'http://localhost:8000'
const lab = { address: 'https://lab.example', token: 'lab-token' }

const log = { warn: () => undefined }
const registries = knownRegistries(
  {
    registry: { address, token: 'startup-token' },
    otherRegistries: async () => [{ address, token: undefined }, lab],
  },
  log,
)

async function read(text: string, allowsUnknown = false) {
  const { client, isKnown, reference } = await registries.openFor(text, { allowsUnknown })
  return { ...reference, registry: client.baseUrl, isKnown }
}

test('the registry from the settings is the first, with its current credentials', async () => {
  expect(await registries.list()).toEqual([{ address, token: undefined }, lab])
})

test('each listed label refers to its own file, with or without the registry in the reference', async () => {
  for (const files of fileSetExamples()) {
    for (const { label } of fileChoices(files, ({ file_size_bytes }) => file_size_bytes)) {
      for (const text of [`tide:${label}`, `localhost:8000/Tide:${label}`]) {
        expect(await read(text), text).toMatchObject({ name: 'tide', quantization: label })
      }
    }
  }
})

test.each([
  ['tide', address],
  ['tide:latest', address],
  ['Localhost:8000/tide', address],
  ['http://localhost:8000/tide:latest', address],
  ['http://localhost:8000/m/tide', address],
  ['lab.example/tide', lab.address],
  ['https://LAB.example/tide', lab.address],
  ['https://lab.example:443/m/tide', lab.address],
])('%s refers to the default file in %s', async (text, registry) => {
  expect(await read(text)).toMatchObject({
    registry,
    isKnown: true,
    name: 'tide',
    quantization: undefined,
  })
})

test.each([
  ['tide:', "'tide:' is not a valid model name; valid names look like shoal-tiny"],
  [
    'gpubox/tide',
    'the registry gpubox is not configured on this machine; to use it, sign in: shoal login --registry',
  ],
  ['https://localhost:8000/tide', 'the registry https://localhost:8000 is not configured'],
  ['http://lab.example/tide', 'the registry http://lab.example is not configured'],
  ['https://lab.example:8443/tide', 'the registry https://lab.example:8443 is not configured'],
  ['https://lab.example./tide', 'the registry https://lab.example. is not configured'],
])('%s is rejected', async (text, message) => {
  await expect(read(text)).rejects.toThrow(message)
})

test('an unknown registry can be used only if its full address is given and the user has agreed', async () => {
  const found = await read('http://192.168.1.5:8000/tide:Q4_0', true)
  expect(found).toMatchObject({ registry: 'http://192.168.1.5:8000', isKnown: false, name: 'tide' })
  for (const text of ['gpubox/tide', 'http://gpubox/shoal/m/tide', 'http://exam ple/tide']) {
    await expect(read(text, true), text).rejects.toThrow(/is not configured on this machine/)
  }
  await expect(read('http://user:secret@gpubox/tide', true)).rejects.toThrow('not a valid')
})

test('if the daemon has no registry, the error says so', async () => {
  const none = knownRegistries({ registry: undefined, otherRegistries: undefined }, log)
  await expect(none.open()).rejects.toThrow('this daemon was started without a registry')
})
