/** The thread behind `threadFrontierHash`: each message says up to where the file is good. */
import { createHash } from 'node:crypto'
import { openSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { threadSetup } from '../thread-setup.ts'
import type { FrontierMessage, FrontierSetup } from './frontier-hash.ts'
import { hashPart } from './hash-part.ts'

const { path, fileSizeBytes } = threadSetup<FrontierSetup>()
const fd = openSync(path, 'r') // closed with the thread
const hash = createHash('sha256')
let at = 0

parentPort?.on('message', (goodBytes: number) => {
  at += hashPart(fd, hash, at, goodBytes - at)
  tell({ hashedBytes: at })
  if (at === fileSizeBytes) tell({ sha256: hash.digest('hex') })
})

function tell(message: FrontierMessage) {
  parentPort?.postMessage(message)
}
