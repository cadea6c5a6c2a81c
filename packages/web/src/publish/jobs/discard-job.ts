import { dropJob } from './drop-job.ts'
import type { Job } from './job.ts'
import { lockJob } from './job-lock.ts'
import { findJob, forgetJob } from './kept-jobs.ts'
import type { PublishClient } from './publish-client.ts'

/**
 * Deletes an unfinished job and its uploads. Throws `other_tab` if another tab is publishing the job. Does nothing if
 * another tab has completed or discarded it since it was listed.
 */
export async function discardJob(client: PublishClient, listed: Job): Promise<void> {
  const unlock = await lockJob(listed.modelName)
  try {
    const job = await findJob(listed)
    if (!job) return
    await dropJob(client, job)
    await forgetJob(job)
  } finally {
    unlock()
  }
}
