import type { RegistryClient } from '@shoal/protocol/client'
import type { QueryClient } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import type { Prefs } from '../prefs.ts'
import type { HeadSink } from './head.ts'

/** What every screen can reach. */
export type AppContext = {
  client: RegistryClient
  queryClient: QueryClient
  prefs: Prefs
  /** Where the head of a printed page is collected; undefined in a browser. */
  head: HeadSink | undefined
}

export const useApp = (): AppContext => useRouteContext({ from: '__root__' })
export const useClient = (): RegistryClient => useApp().client
