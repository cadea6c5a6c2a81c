/** The thread behind `startSwarm`: it does what messages say, and tells what happens. */
import { parentPort } from 'node:worker_threads'
import { threadSetup } from '../thread-setup.ts'
import { joinSwarm } from './swarm-client.ts'
import type { Contact, FromSwarm, SwarmSetup, ToSwarm } from './swarm-messages.ts'

const tell = (message: FromSwarm) => parentPort?.postMessage(message)
const setup = threadSetup<SwarmSetup>()
const contact = Promise.withResolvers<Contact>()
let isJoining = false
const joining = contact.promise.then((known) => joinSwarm(setup, known, tell))
joining.catch((error) => tell({ event: 'failed', message: String(error) }))

parentPort?.on('message', async (message: ToSwarm) => {
  if (message.call === 'join') {
    isJoining = true
    return contact.resolve(message.contact)
  }
  if (message.call === 'close' && !isJoining) process.exit() // of this thread
  const swarm = await joining.catch(() => undefined) // told above
  if (message.call !== 'close') return swarm?.obey(message)
  await swarm?.close()
  process.exit()
})
