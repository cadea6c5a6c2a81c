/** Calls, streams and notifications between threads and between processes (see decision 0024). */

export {
  childPort,
  type ProcessEnd,
  parentProcessPort,
  parentThreadPort,
  threadPort,
} from './ports.ts'
export { type Methods, type Notify, openRpc, type Rpc } from './rpc.ts'
