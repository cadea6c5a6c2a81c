import { parentProcessPort } from '../ports.ts'
import { type Notify, openRpc } from '../rpc.ts'
import { farMethods, type Near } from './far-methods.ts'

const notify: Notify<Near> = (...notice) => near.notify(...notice)
const near = openRpc<Near>(
  parentProcessPort(process, { ignoresInterrupt: false }),
  farMethods(notify),
)
