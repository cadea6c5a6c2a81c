/** Renders the pages on the server, for slow connections, search engines and link previews. */
import { ApiError, fetchTransport, openConnection } from '@shoal/protocol/client'
import type { QueryClient } from '@tanstack/react-query'
import { createMemoryHistory } from '@tanstack/react-router'
import { renderToStaticMarkup } from 'react-dom/server'
import { bootFrom } from './api/boot.ts'
import type { Head, HeadSink } from './api/head.ts'
import { pageClient } from './api/page-client.ts'
import { newQueryClient } from './api/query-client.ts'
import { formatTitle } from './app/head.tsx'
import { App } from './app.tsx'
import { readPrefs, type ToldDaemon } from './prefs.ts'
import { newRouter } from './router.tsx'

export type { Head }

export type PrintedPage = {
  status: number
  head: Head & { fullTitle: string }
  theme: 'light' | 'dark' | undefined
  html: string
  /** The data from which the screens were rendered, as JSON. It is sent with the page. */
  boot: string
  /** Whether all data was loaded in time. If not, the browser loads the rest, such as a card that is slow to render. */
  isComplete: boolean
  /**
   * The name of the model that the page is about; undefined if there is none. The URL may contain the model's ID or a
   * former name instead.
   */
  modelName: string | undefined
}

type Order = {
  /** The path and query of the requested page. */
  url: string
  /** Calls the registry's API by path, on behalf of the visitor. */
  fetch: typeof fetch
  /** The `Cookie` header. */
  cookies: string
  /** The origin of the visitor's daemon, if the registry can determine it. */
  daemon: ToldDaemon
  /** The registry's base URL. */
  registryUrl: string
  /** The registry's name in commands, from `findRegistryLabel`. */
  registryLabel: string | undefined
}

export async function printPage({
  url,
  fetch,
  cookies,
  daemon,
  registryUrl,
  registryLabel,
}: Order): Promise<PrintedPage> {
  const connection = openConnection({ baseUrl: '', maxWaits: 0, transport: fetchTransport(fetch) })
  const queryClient = newQueryClient()
  const queries = { staleTime: Number.POSITIVE_INFINITY, retry: false, retryOnMount: false }
  queryClient.setDefaultOptions({ queries })
  const sink: HeadSink = { head: undefined, modelName: undefined }
  const prefs = readPrefs(cookies, daemon)
  const history = createMemoryHistory({ initialEntries: [url] })
  const client = pageClient(connection)
  const context = { connection, client, queryClient, prefs, registryUrl, registryLabel, head: sink }
  const router = newRouter(context, history)
  await router.load()
  const html = renderToStaticMarkup(<App router={router} />)
  const head = sink.head ?? { title: 'shoal' }
  const isNowhere = router.state.matches.some(
    ({ _notFound, status }) => _notFound || status === 'notFound',
  )
  const page = {
    status: findStatus(isNowhere ? 404 : 200, queryClient),
    head: { ...head, fullTitle: formatTitle(head) },
    theme: prefs.theme,
    html,
    boot: JSON.stringify(bootFrom(queryClient)),
    isComplete: queryClient.isFetching() === 0,
    modelName: sink.modelName,
  }
  queryClient.clear()
  return page
}

/** Returns the HTTP status of the page: the highest of `routed` and the statuses of failed API calls. */
function findStatus(routed: number, queryClient: QueryClient): number {
  const errors = queryClient
    .getQueryCache()
    .getAll()
    .map(({ state }) => state.error)
    .filter((error) => error !== null)
  const statuses = errors.map((error) => (error instanceof ApiError ? error.status : 500))
  return Math.max(routed, ...statuses)
}
