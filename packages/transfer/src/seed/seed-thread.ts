/** The thread behind `startSeeder`: it does what messages say, and tells how things stand. */
import { parentPort } from 'node:worker_threads'
import { threadSetup } from '../thread-setup.ts'
import { startSeeding } from './seed-client.ts'
import type { FromSeeder, SeedSetup, ToSeeder } from './seed-messages.ts'

const tell = (message: FromSeeder) => parentPort?.postMessage(message)
const { obey, close } = startSeeding(threadSetup<SeedSetup>(), tell)
parentPort?.on('message', async (message: ToSeeder) => {
  if (message.call !== 'close') return obey(message)
  await close()
  process.exit() // of this thread
})
