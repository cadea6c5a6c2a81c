import type { RegistryClient } from '@shoal/protocol/client'
import type { QueryClient } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import type { Prefs } from '../prefs.ts'
import type { HeadSink } from './head.ts'

/** The context that is available to every screen. */
export type AppContext = {
  client: RegistryClient
  queryClient: QueryClient
  prefs: Prefs
  /** The registry's name in commands, from `findRegistryLabel`. */
  registryLabel: string | undefined
  /** Receives the metadata of a page that is rendered on the server; undefined in a browser. */
  head: HeadSink | undefined
}

export const useApp = (): AppContext => useRouteContext({ from: '__root__' })
export const useClient = (): RegistryClient => useApp().client
