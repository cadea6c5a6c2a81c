import type { MemberRight } from '@shoal/protocol'
import { ApiError, type ModelRecord, memberCalls } from '@shoal/protocol/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCalls } from '../../api/context.ts'

const membersKey = (model: ModelRecord) => ['members', model.id]

export function useMembers(model: ModelRecord) {
  const { listMembers } = useCalls(memberCalls)
  return useQuery({
    queryKey: membersKey(model),
    queryFn: ({ signal }) => listMembers(model.id, signal),
  })
}

/** Returns a mutation that adds a member or changes an existing member's access. */
export function useSetMember(model: ModelRecord) {
  const { setMember } = useCalls(memberCalls)
  return useMutation({
    mutationFn: ({ username, right }: { username: string; right: MemberRight }) =>
      setMember(model.id, username, right),
    onSettled: useLoadAgain(model),
  })
}

/**
 * Returns a mutation that removes a member. `onRemoved` is called before the members are loaded again and the member's
 * row disappears.
 */
export function useRemoveMember(model: ModelRecord, username: string, onRemoved: () => unknown) {
  const { removeMember } = useCalls(memberCalls)
  return useMutation({
    mutationFn: () => removeMember(model.id, username),
    onSuccess: onRemoved,
    onSettled: useLoadAgain(model),
  })
}

/**
 * Reloads the members even after an error, because another person or tab may have changed them. If the visitor has lost
 * access, reloads everything.
 */
function useLoadAgain(model: ModelRecord) {
  const queryClient = useQueryClient()
  return (_: unknown, error: Error | null) => {
    const hasLostRights = error instanceof ApiError && [401, 403].includes(error.status)
    return queryClient.invalidateQueries(
      hasLostRights ? undefined : { queryKey: membersKey(model) },
    )
  }
}
