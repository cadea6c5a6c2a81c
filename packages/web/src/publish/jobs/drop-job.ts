import { ApiError, type RegistryClient } from '@shoal/protocol/client'
import { type Job, unfinished } from './job.ts'
import { forgetJob } from './kept-jobs.ts'
import { dropEmptyModel } from './open-model.ts'

/** Gives a job up: what was sent of its files goes, and so does a model that has no file at all. */
export async function dropJob(client: RegistryClient, job: Job): Promise<void> {
  const { modelName, newModel } = job
  for (const { fileId } of unfinished(job)) {
    if (fileId) await unlessGone(client.deleteFile(modelName, fileId))
  }
  if (newModel) await dropEmptyModel(client, modelName)
  await forgetJob(job)
}

async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}
