import type { Sharing } from '@shoal/transfer'
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { sharingRoutes } from './sharing-routes.ts'

test('during the first scan of the folder, the status shows the scan and the files found so far', async () => {
  let isScanning = true
  const file = { path: '/models/tide/tide.gguf', peers: 0, uploadedBytes: 0, isDone: false }
  const nothing = async () => undefined
  const sharing: Sharing = {
    status: () => ({ port: 6881, isPaused: false, bytesPerSecond: 0, files: [file] }),
    failure: () => undefined,
    fileCount: () => 1,
    isScanning: () => isScanning,
    firstScan: nothing(),
    pause: nothing,
    resume: nothing,
    close: nothing,
  }
  const app = fastify().register(sharingRoutes, { sharing })
  const read = async () => (await app.inject('/api/sharing')).json()
  expect(await read()).toMatchObject({ looking: true, files: [{ name: 'tide/tide.gguf' }] })
  isScanning = false
  expect(await read()).toMatchObject({ looking: false })
  await app.close()
})
