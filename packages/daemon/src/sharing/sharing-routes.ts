/** Routes that report the status of file sharing, and pause or resume sharing. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { SharingRequest } from '@shoal/protocol'
import { type Sharing, sharedName } from '@shoal/transfer'

type Dependencies = { sharing: Sharing | undefined }

export const sharingRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (app, { sharing }) => {
  app.get('/api/sharing', async () => getStatus(sharing))

  app.post('/api/sharing', { schema: { body: SharingRequest } }, async ({ body }) => {
    if (body.paused) sharing?.pause()
    else sharing?.resume()
    return { ...getStatus(sharing), paused: body.paused }
  })
}

/** Returns the status of file sharing. Sizes are in bytes, and speeds are in bytes per second. */
function getStatus(sharing: Sharing | undefined) {
  const nothing = { looking: false, paused: false, port: null, bytes_per_second: 0, files: [] }
  if (!sharing) return { enabled: false, error: null, ...nothing }
  const error = sharing.failure()
  if (error !== undefined) return { enabled: false, error, ...nothing }
  const { port, isPaused, bytesPerSecond, files } = sharing.status()
  return {
    enabled: true,
    error: null,
    looking: sharing.isScanning(),
    paused: isPaused,
    port,
    bytes_per_second: bytesPerSecond,
    files: files.map(({ path, peers, uploadedBytes, isDone }) => ({
      name: sharedName(path),
      peers,
      uploaded_bytes: uploadedBytes,
      done: isDone,
    })),
  }
}
