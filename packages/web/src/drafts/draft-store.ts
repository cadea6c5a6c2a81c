/**
 * Stores drafts of forms in this browser, one for each user and form. Unsaved changes therefore survive a reload, a
 * closed tab and an expired session. Signing out deletes the drafts of all users.
 */
const prefix = 'shoal-draft'

export type DraftKey = {
  /** A user sees only their own drafts, because several people may use the same browser. */
  username: string
  /** The form, and the object that is edited in it. */
  form: string
}

const toStorageKey = ({ username, form }: DraftKey) => `${prefix} ${username} ${form}`

/** Returns a draft; undefined if there is none, or if the browser blocks site data. */
export function readDraft(key: DraftKey): Record<string, unknown> | undefined {
  try {
    const draft: unknown = JSON.parse(localStorage.getItem(toStorageKey(key)) ?? 'null')
    return typeof draft === 'object' && draft !== null ? { ...draft } : undefined
  } catch {
    return undefined // site data is blocked, or the entry is not valid JSON
  }
}

/** Stores a draft. Returns false if the browser blocks site data, or if the draft is too large. */
export function keepDraft(key: DraftKey, draft: object): boolean {
  try {
    localStorage.setItem(toStorageKey(key), JSON.stringify(draft))
    return true
  } catch {
    return false
  }
}

export function forgetDraft(key: DraftKey) {
  try {
    localStorage.removeItem(toStorageKey(key))
  } catch {
    return // site data is blocked, so there are no drafts
  }
}

/** Whether this browser has drafts of any user. */
export const hasDrafts = (): boolean => listDrafts().length > 0

/** Deletes the drafts of all users. */
export function forgetAllDrafts() {
  for (const storageKey of listDrafts()) localStorage.removeItem(storageKey)
}

function listDrafts(): string[] {
  try {
    return Object.keys(localStorage).filter((storageKey) => storageKey.startsWith(`${prefix} `))
  } catch {
    return [] // site data is blocked
  }
}
