/**
 * Locks that are shared by all tabs of this browser. A tab that shows a job holds the job's lock, even if the job is
 * paused, so that no other tab resumes or discards the job. The browser releases the locks of a tab that is closed or
 * has crashed. Browsers provide no locks for pages loaded over plain HTTP, so on such pages, every tab gets the lock.
 */
import { AppError } from '@shoal/core/errors'

export type Unlock = () => void

const lockName = (modelName: string) => `publish ${modelName}`

const getLocks = (): LockManager | undefined => (navigator as Partial<Navigator>).locks

/** Whether this tab can find out what other tabs are publishing. */
export const knowsOtherTabs = (): boolean => getLocks() !== undefined

/** Takes the lock of a model's job. Throws `other_tab` if another tab has it. */
export async function lockJob(modelName: string): Promise<Unlock> {
  const locks = getLocks()
  if (!locks) return () => undefined
  for (;;) {
    const unlock = await tryLock(locks, lockName(modelName))
    if (unlock) return unlock
    // `untilUnlocked` in another tab may be holding a shared lock for a moment. In that case, try again.
    if (await isLocked(modelName)) throw otherTab()
  }
}

function tryLock(locks: LockManager, name: string): Promise<Unlock | undefined> {
  return new Promise((resolve, reject) => {
    const hold = (lock: Lock | null) =>
      lock ? new Promise<void>((unlock) => resolve(unlock)) : resolve(undefined)
    locks.request(name, { ifAvailable: true }, hold).catch(reject)
  })
}

/** Whether a tab has the lock of a model's job. */
export async function isLocked(modelName: string): Promise<boolean> {
  const { held = [] } = (await getLocks()?.query()) ?? {}
  return held.some(({ name, mode }) => name === lockName(modelName) && mode === 'exclusive')
}

/**
 * Resolves when no tab has the lock of a model's job. Several tabs can wait at the same time. Rejects with the abort
 * reason of `signal`.
 */
export async function untilUnlocked(modelName: string, signal: AbortSignal): Promise<void> {
  await getLocks()?.request(lockName(modelName), { mode: 'shared', signal }, () => undefined)
}

const otherTab = () => new AppError('other_tab', 'this model is being published in another tab', {})
