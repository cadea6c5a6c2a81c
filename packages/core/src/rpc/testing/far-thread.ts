import { parentPort } from 'node:worker_threads'
import { parentThreadPort } from '../ports.ts'
import { type Notify, openRpc } from '../rpc.ts'
import { farMethods, type Near } from './far-methods.ts'

if (!parentPort) throw new Error('this is a thread')
const notify: Notify<Near> = (...notice) => near.notify(...notice)
const near = openRpc<Near>(parentThreadPort(parentPort), farMethods(notify))
