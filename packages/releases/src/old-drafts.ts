import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreMissing } from '@shoal/files'

const maxDraftAgeMs = 86_400_000

/**
 * Deletes the folders in `directory` that begin with `prefix` and are older than a day, which killed processes have
 * left behind. Drafts that are still being written are newer.
 */
export async function removeOldDrafts(directory: string, prefix: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue
    const draft = join(directory, entry.name)
    const found = await stat(draft).catch(ignoreMissing) // another process has just completed or removed the draft
    const isLeft = found && Date.now() - found.mtimeMs > maxDraftAgeMs
    if (isLeft) await rm(draft, { recursive: true, force: true })
  }
}
