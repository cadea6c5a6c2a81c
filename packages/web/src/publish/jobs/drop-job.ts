import { ApiError, editCalls, fileCalls, uploadCalls } from '@shoal/protocol/client'
import { dropEmptyModel } from '@shoal/transfer/push'
import { type Job, unfinished } from './job.ts'
import type { PublishClient } from './publish-client.ts'

type Client = Pick<PublishClient, 'connection'>

/**
 * Deletes a job's unfinished uploads from the registry. If the model was created for the job and has no files, deletes
 * the model too.
 */
export async function dropJob(client: Client, job: Job): Promise<void> {
  const { deleteFile } = editCalls(client.connection)
  for (const { fileId } of unfinished(job)) {
    if (fileId) await unlessGone(deleteFile(job.modelName, fileId))
  }
  await dropNewModel(client, job)
}

/** Deletes the model that was created for a job, unless it has files or data. */
export async function dropNewModel({ connection }: Client, job: Job): Promise<void> {
  const { modelName, newModel, files } = job
  if (!newModel) return
  const client = { ...editCalls(connection), ...fileCalls(connection), ...uploadCalls(connection) }
  const filenames = files.map(({ filename }) => filename)
  await dropEmptyModel({ client, modelName, filenames })
}

async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}
