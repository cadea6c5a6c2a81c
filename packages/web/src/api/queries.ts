/** Queries used by the screens, with their cache keys. */
import { ApiError, type credentialCalls, type ModelFilter } from '@shoal/protocol/client'
import { queryOptions } from '@tanstack/react-query'
import type { PageClient } from './page-client.ts'

type CredentialClient = ReturnType<typeof credentialCalls>

export const listQuery = (client: PageClient, filter: ModelFilter) =>
  queryOptions({
    queryKey: ['models', filter],
    queryFn: ({ signal }) => client.listModels(filter, signal),
  })

/** The number of models with each facet value. Only models that match `filter` are counted. */
export const facetsQuery = (client: PageClient, filter: ModelFilter) =>
  queryOptions({
    queryKey: ['facets', filter],
    queryFn: ({ signal }) => client.getFacets(filter, signal),
    staleTime: 5 * 60_000,
  })

export const modelQuery = (client: PageClient, name: string) =>
  queryOptions({
    queryKey: ['model', name],
    queryFn: ({ signal }) => client.getModel(name, signal),
  })

/** Up to five models that match the words in the name of a missing model. */
export const nearQuery = (client: PageClient, name: string) =>
  listQuery(client, { q: name.replace(/[._-]+/g, ' ').trim(), limit: 5 })

export const filesQuery = (client: PageClient, name: string) =>
  queryOptions({
    queryKey: ['files', name],
    queryFn: ({ signal }) => client.listFiles(name, {}, signal),
  })

export const ownerQuery = (client: PageClient, username: string) =>
  queryOptions({ queryKey: ['owner', username], queryFn: () => client.getUser(username) })

export const meKey = ['me'] as const

/** The signed-in user, or null. Loaded again when the visitor returns to the tab, because another tab may have signed out. */
export const meQuery = (client: PageClient) =>
  queryOptions({
    queryKey: meKey,
    refetchOnWindowFocus: 'always',
    queryFn: ({ signal }) =>
      client.getMe(signal).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 401) return null
        throw error
      }),
    staleTime: 5 * 60_000,
  })

/** The registry's settings that concern visitors. */
export const registryQuery = (client: PageClient) =>
  queryOptions({
    queryKey: ['registry'],
    queryFn: ({ signal }) => client.getRegistry(signal),
    staleTime: 5 * 60_000,
  })

/** The registry's statistics, which the masthead visualizes. */
export const schoolQuery = (client: PageClient) =>
  queryOptions({
    queryKey: ['stats'],
    queryFn: () => client.getStats(),
    staleTime: 5 * 60_000,
  })

/** The releases of shoal that the registry offers. */
export const releasesQuery = (client: PageClient) =>
  queryOptions({ queryKey: ['releases'], queryFn: () => client.getReleases() })

export const keysQuery = (client: CredentialClient) =>
  queryOptions({ queryKey: ['keys'], queryFn: () => client.listApiKeys() })

export const sessionsQuery = (client: CredentialClient) =>
  queryOptions({ queryKey: ['sessions'], queryFn: () => client.listSessions() })

export const fileQuery = (client: PageClient, model: string, file: string) =>
  queryOptions({
    queryKey: ['file', file],
    queryFn: ({ signal }) => client.getFile(model, file, signal),
    staleTime: Number.POSITIVE_INFINITY, // the metadata of a ready file never changes
  })

/** All files, including those that are not ready; for users who can edit the model. */
export const allFilesQuery = (client: PageClient, name: string) =>
  queryOptions({
    queryKey: ['files', name, 'all'],
    queryFn: ({ signal }) => client.listFiles(name, { status: 'all' }, signal),
  })

export const cardQuery = (client: PageClient, name: string, images: boolean) =>
  queryOptions({
    queryKey: ['card', name, images],
    queryFn: ({ signal }) => client.getCard(name, { images }, signal),
    refetchInterval: refetchBusyCard,
  })

/** The interval at which a card that the registry has not rendered yet is loaded again. */
const busyCardMs = 5_000

/** The `refetchInterval` of a query for a card's HTML. */
export const refetchBusyCard = ({ state }: { state: { data: string | undefined } }) =>
  isBusyCard(state.data) ? busyCardMs : false

/**
 * Whether the registry was too busy to render the card and returned a note instead. No card can imitate this note,
 * because cards are sanitized.
 */
const isBusyCard = (html: string | undefined): boolean =>
  html?.startsWith('<p class="card-note" data-state="busy"') ?? false
