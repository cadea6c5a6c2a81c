/** Queries used by the administration page, with their cache keys. */
import type { AuditQuery } from '@shoal/protocol'
import type { adminCalls } from '@shoal/protocol/client'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

type AdminClient = ReturnType<typeof adminCalls>

/** The prefix of every cache key. */
export const adminKey = ['admin']

/** Number of audit log entries loaded at a time. */
const auditPageSize = 50

export const usersQuery = (client: AdminClient) =>
  queryOptions({
    queryKey: [...adminKey, 'users'],
    queryFn: ({ signal }) => client.listUsers(signal),
  })

export const statusQuery = (client: AdminClient) =>
  queryOptions({
    queryKey: [...adminKey, 'status'],
    queryFn: ({ signal }) => client.getStatus(signal),
    refetchInterval: 10_000, // the queue also changes without any action by the visitor
  })

export const userKeysQuery = (client: AdminClient, username: string) =>
  queryOptions({
    queryKey: [...adminKey, 'keys', username],
    queryFn: () => client.listUserKeys(username),
  })

export const invitationsQuery = (client: AdminClient) =>
  queryOptions({
    queryKey: [...adminKey, 'invitations'],
    queryFn: () => client.listInvitations(),
  })

/** The audit log, newest entries first. Each page continues after the oldest entry of the previous page. */
export const auditQuery = (client: AdminClient, filter: AuditQuery) =>
  infiniteQueryOptions({
    queryKey: [...adminKey, 'audit', filter],
    queryFn: ({ pageParam: before, signal }) =>
      client.listAudit(
        { ...filter, limit: auditPageSize, ...(before !== undefined && { before }) },
        signal,
      ),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (entries) =>
      entries.length === auditPageSize ? entries.at(-1)?.seq : undefined,
    staleTime: 0,
  })
