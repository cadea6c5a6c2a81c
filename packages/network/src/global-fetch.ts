import setGlobal from 'undici/lib/global.js'
import type { Network } from './dispatcher.ts'

/** Has the global `fetch` of this thread go through the network, for libraries that know no other way. */
export function useForFetch(network: Network): void {
  setGlobal.setGlobalDispatcher({
    dispatch: (options, handler) =>
      network.agentFor(new URL(String(options.origin))).dispatch(options, handler),
  })
}
