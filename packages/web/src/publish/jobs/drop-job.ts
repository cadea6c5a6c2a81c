import { ApiError } from '@shoal/protocol/client'
import { dropEmptyModel } from '@shoal/transfer/push'
import { type Job, unfinished } from './job.ts'
import type { PublishClient } from './publish-client.ts'

/**
 * Deletes a job's unfinished uploads from the registry. If the model was created for the job and has no files, deletes
 * the model too.
 */
export async function dropJob(client: PublishClient, job: Job): Promise<void> {
  const { modelName, newModel } = job
  for (const { fileId } of unfinished(job)) {
    if (fileId) await unlessGone(client.deleteFile(modelName, fileId))
  }
  if (newModel) await dropEmptyModel({ client, modelName, filenames: [] })
}

async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}
