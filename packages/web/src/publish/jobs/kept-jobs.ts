/** Stores unfinished jobs in IndexedDB. All functions reject in browsers without IndexedDB. */
import type { DBSchema, IDBPDatabase } from 'idb'
import type { Job } from './job.ts'

const database = 'shoal-publish'
const version = 1

interface Schema extends DBSchema {
  jobs: { key: [username: string, modelName: string]; value: Job }
}

export const keepJob = (job: Job) => inDatabase((kept) => kept.put('jobs', job))

export const forgetJob = ({ username, modelName }: Job) =>
  inDatabase((kept) => kept.delete('jobs', [username, modelName]))

/** Returns the latest version of a job; undefined if it has been completed or discarded. */
export const findJob = ({ username, modelName }: Job) =>
  inDatabase((kept) => kept.get('jobs', [username, modelName]))

export async function listJobs(username: string): Promise<Job[]> {
  const jobs = await inDatabase((kept) => kept.getAll('jobs'))
  return jobs.filter((job) => job.username === username)
}

/** Opens the database for each call, so that another version of this page can upgrade the database between calls. */
async function inDatabase<T>(act: (kept: IDBPDatabase<Schema>) => Promise<T>): Promise<T> {
  const { openDB } = await import('idb') // loaded on demand, because only signed-in users need it
  const opened = await openDB<Schema>(database, version, {
    upgrade: (created) =>
      void created.createObjectStore('jobs', { keyPath: ['username', 'modelName'] }),
  })
  try {
    return await act(opened)
  } finally {
    opened.close()
  }
}
