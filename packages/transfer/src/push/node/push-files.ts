import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { ModelFile } from '@shoal/protocol/client'
import type { PushEvent } from '../../events.ts'
import { followLimit, readLimit } from '../../limit.ts'
import { rateClock, setRate } from '../../rate-limit.ts'
import { pushTogether } from '../push-together.ts'
import { defaultConnections, type PushOptions, pushFile } from './push-file.ts'

export type PushFilesOptions = Omit<PushOptions, 'path' | 'filename' | 'onEvent' | 'rateClock'> & {
  /** The files. A `filename` is the name on the registry. Default: the last part of `path`. */
  files: readonly { path: string; filename?: string | undefined }[]
  onEvent?: ((filename: string, event: PushEvent) => void) | undefined
}

/**
 * Uploads several files of a model, small ones at the same time. Resolves when all files are ready on the registry, with
 * the files in the given order. `connections` and `rateLimit` apply to all files together. If a file cannot be uploaded,
 * starts no more uploads, and rejects when those that have started have ended.
 * @example
 * import { pushFiles } from '@shoal/transfer'
 *
 * const files = [{ path: 'tide-q4.gguf' }, { path: 'tide-q2.gguf' }]
 * const ready = await pushFiles({ client, modelName: 'tide', files })
 * console.log(ready.map(({ filename }) => filename))
 */
export async function pushFiles({
  files,
  onEvent,
  connections = defaultConnections,
  ...options
}: PushFilesOptions): Promise<ModelFile[]> {
  const sized = await Promise.all(
    files.map(async (file) => ({ ...file, sizeBytes: (await stat(file.path)).size })),
  )
  const clock = rateClock(readLimit(options.rateLimit))
  const stopFollowing = followLimit(options.rateLimit, (limit) => setRate(clock, limit))
  try {
    return await pushTogether(sized, {
      connections,
      push: ({ path, filename = basename(path) }, onSent) =>
        pushFile({
          ...options,
          ...{ connections, rateClock: clock, path, filename },
          onEvent(event) {
            if (event.type === 'processing') onSent()
            onEvent?.(filename, event)
          },
        }),
    })
  } finally {
    stopFollowing()
  }
}
