/** The thread behind `startSwarm`: it does what messages say, and tells what happens. */
import { parentPort } from 'node:worker_threads'
import { threadSetup } from '../thread-setup.ts'
import { joinSwarm } from './swarm-client.ts'
import type { FromSwarm, SwarmSetup, ToSwarm } from './swarm-messages.ts'

const tell = (message: FromSwarm) => parentPort?.postMessage(message)
const joining = joinSwarm(threadSetup<SwarmSetup>(), tell)
joining.catch((error) => tell({ event: 'failed', message: String(error) }))

parentPort?.on('message', async (message: ToSwarm) => {
  const swarm = await joining.catch(() => undefined) // told above
  if (message.call !== 'close') return swarm?.obey(message)
  await swarm?.close()
  process.exit() // of this thread
})
