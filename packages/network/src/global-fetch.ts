import setGlobal from 'undici/lib/global.js'
import type { Network } from './dispatcher.ts'

/** Makes the global `fetch` of this thread use `network`, for libraries that do not accept a dispatcher. */
export function useForFetch(network: Network): void {
  setGlobal.setGlobalDispatcher({
    dispatch: (options, handler) =>
      network.agentFor(new URL(String(options.origin))).dispatch(options, handler),
  })
}
