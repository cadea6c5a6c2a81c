/** Jobs that have not come to their end, in the browser's own database. */
import type { Job } from './job.ts'

const database = 'shoal-publish'
const store = 'jobs'

export const keepJob = (job: Job) => inStore('readwrite', (jobs) => jobs.put(job))

export const forgetJob = ({ username, modelName }: Job) =>
  inStore('readwrite', (jobs) => jobs.delete([username, modelName]))

export async function listJobs(username: string): Promise<Job[]> {
  const jobs = await inStore<Job[]>('readonly', (kept) => kept.getAll())
  return jobs.filter((job) => job.username === username)
}

async function inStore<T>(
  mode: IDBTransactionMode,
  act: (jobs: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const opened = await open()
  try {
    const transaction = opened.transaction(store, mode)
    const result = answerOf(act(transaction.objectStore(store)))
    await Promise.all([result, ended(transaction)])
    return await result
  } finally {
    opened.close()
  }
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(database, 1)
  request.onupgradeneeded = () =>
    request.result.createObjectStore(store, { keyPath: ['username', 'modelName'] })
  return answerOf(request)
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

function ended(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(transaction.error)
  })
}
