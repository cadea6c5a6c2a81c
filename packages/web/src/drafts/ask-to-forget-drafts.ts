import { forgetAllDrafts, hasDrafts } from './draft-store.ts'

/** Deletes all drafts, after a confirmation if there are any. Returns false if the visitor wants to keep them. */
export function askToForgetDrafts(): boolean {
  const question = 'You have unsaved changes. If you sign out, they will be deleted. Sign out?'
  if (hasDrafts() && !confirm(question)) return false
  forgetAllDrafts()
  return true
}
