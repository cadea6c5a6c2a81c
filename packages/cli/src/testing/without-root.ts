import { chown, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Runs `work` as an unprivileged user who owns `folder`, because file permissions do not restrict root. */
export async function withoutRoot<T>(folder: string, work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work()
  const nobody = 65_534
  for (const name of ['', ...(await readdir(folder, { recursive: true }))]) {
    await chown(join(folder, name), nobody, nobody)
  }
  process.seteuid?.(nobody)
  return work().finally(() => process.seteuid?.(0))
}
