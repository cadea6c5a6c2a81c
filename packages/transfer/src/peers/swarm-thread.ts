/** The thread behind `startSwarm`: it does what messages say, and tells what happens. */
import { parentPort, workerData } from 'node:worker_threads'
import { joinSwarm } from './swarm-client.ts'
import type { FromSwarm, SwarmSetup, ToSwarm } from './swarm-messages.ts'

const tell = (message: FromSwarm) => parentPort?.postMessage(message)
const early: ToSwarm[] = []
let obey = (message: ToSwarm): void => {
  early.push(message)
}

parentPort?.on('message', (message: ToSwarm) => obey(message))
joinSwarm(workerData as SwarmSetup, tell).then(
  (swarm) => {
    obey = swarm.obey
    for (const message of early) obey(message)
  },
  (error) => tell({ event: 'failed', message: String(error) }),
)
