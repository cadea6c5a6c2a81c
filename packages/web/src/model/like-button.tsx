import { formatCount } from '@shoal/core/units'
import { ApiError, type ModelRecord } from '@shoal/protocol/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Heart } from 'lucide-react'
import { signInAddress } from '../account/next-page.ts'
import { useClient } from '../api/context.ts'
import { modelQuery } from '../api/queries.ts'

/** Shows the new state immediately, and restores the previous state if the request fails. */
export function LikeButton({ model }: { model: ModelRecord }) {
  const client = useClient()
  const queryClient = useQueryClient()
  const { queryKey } = modelQuery(client, model.name)
  const like = useMutation({
    mutationFn: (liked: boolean) => client.setLike(model.id, liked),
    async onMutate(liked) {
      await queryClient.cancelQueries({ queryKey })
      const likes = model.likes + (liked ? 1 : -1)
      queryClient.setQueryData(queryKey, { ...model, liked, likes })
      return model
    },
    onError(error, _liked, before) {
      queryClient.setQueryData(queryKey, before)
      if (error instanceof ApiError && error.status === 401) location.href = signInAddress()
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  const { liked, likes } = model
  return (
    <button
      type="button"
      className="ctl"
      aria-pressed={liked === true}
      disabled={like.isPending}
      onClick={() => like.mutate(!liked)}
    >
      <Heart size={17} aria-hidden className={liked ? 'fill-roe text-roe' : ''} />
      {liked ? 'Liked' : 'Like'}
      <span className="font-mono text-[14px] text-ink-2 tabular-nums">{formatCount(likes)}</span>
    </button>
  )
}
