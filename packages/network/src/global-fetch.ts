import globalDispatcher from 'undici/lib/global.js'
import type { Network } from './dispatcher.ts'

const original = globalDispatcher.getGlobalDispatcher()
const networks = new Set<Network>()

/**
 * Makes the global `fetch` of this thread use `network`, for libraries that do not accept a dispatcher.
 * @returns a function that ends the use, and must be called before the network is destroyed. Then `fetch` uses the
 *   network that was set before, or none.
 */
export function useForFetch(network: Network): () => void {
  networks.add(network)
  update()
  return () => {
    networks.delete(network)
    update()
  }
}

function update() {
  const last = [...networks].at(-1)
  globalDispatcher.setGlobalDispatcher(
    last
      ? {
          dispatch: (options, handler) =>
            last.agentFor(new URL(String(options.origin))).dispatch(options, handler),
        }
      : original,
  )
}
