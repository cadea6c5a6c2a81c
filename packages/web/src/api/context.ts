import type { Connection } from '@shoal/protocol/client'
import type { QueryClient } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Prefs } from '../prefs.ts'
import type { HeadSink } from './head.ts'
import type { PageClient } from './page-client.ts'

/** The context that is available to every screen. */
export type AppContext = {
  connection: Connection
  client: PageClient
  queryClient: QueryClient
  prefs: Prefs
  /** The registry's base URL. */
  registryUrl: string
  /** The registry's name in commands, from `findRegistryLabel`. */
  registryLabel: string | undefined
  /** Receives the metadata of a page that is rendered on the server; undefined in a browser. */
  head: HeadSink | undefined
}

export const useApp = (): AppContext => useRouteContext({ from: '__root__' })
export const useClient = (): PageClient => useApp().client

/**
 * Returns calls that only some screens make. Their code is loaded with the screen.
 * @example
 * const { listMembers } = useCalls(memberCalls)
 */
export function useCalls<Calls>(calls: (connection: Connection) => Calls): Calls {
  const { connection } = useApp()
  return useMemo(() => calls(connection), [calls, connection])
}
