/**
 * The ledger records which changes the registry has acknowledged. It is kept outside the processes that are killed. If
 * a response is missing or a server error, the change may or may not have been made.
 */

/** `unknown`: it is uncertain whether the request that creates or deletes the item has succeeded. */
export type Presence = 'there' | 'gone' | 'unknown'

export type Account = { username: string; password: string; token: string }
export type ApiKey = { id: string; key: string; username: string; presence: Presence }

/**
 * The possible states of an account's like. `calls` is incremented when a call to change the like begins, and when the
 * call ends.
 */
export type Like = { possible: Set<boolean>; calls: number }

/**
 * A change to a model's description. The registry must have the last description; if requests overlap, any of them may
 * be the last.
 */
export type Edit = {
  description: string
  /** A number from `nextNumber`, which defines the order of events. */
  began: number
  /** A number from `nextNumber`; Infinity until a response arrives, or until it is certain that none will. */
  ended: number
  /** Whether the change succeeded. */
  isDone: boolean
}

export type Upload = {
  filename: string
  /** The key of the file's bytes in `World.contents`. */
  sha256Hash: string
  id: string | undefined
  storedChunks: Set<number>
  stage: 'started' | 'submitted' | 'ready'
  /** Whether a push of it is in progress. */
  isActive: boolean
  presence: Presence
}

export type Model = {
  name: string
  owner: Account
  isPublic: boolean
  presence: Presence
  /** Whether the model is protected from deletion by random operations. */
  isKept: boolean
  edits: Edit[]
  /** The number of acknowledged downloads, and the number of downloads that may or may not have been counted. */
  downloads: { counted: number; unknown: number }
  /** The accounts' likes, by username. */
  likes: Map<string, Like>
  uploads: Upload[]
}

export type Ledger = { accounts: Account[]; keys: ApiKey[]; models: Model[] }

export function getLike(model: Model, username: string): Like {
  const known = model.likes.get(username)
  if (known) return known
  const like: Like = { possible: new Set([false]), calls: 0 }
  model.likes.set(username, like)
  return like
}

/**
 * Returns the descriptions that a model may have after `edits`. Only the edits in `known` can supersede earlier ones.
 */
export function possibleDescriptions(edits: readonly Edit[], known = edits): string[] {
  const isLast = (edit: Edit) => !known.some(({ isDone, began }) => isDone && began > edit.ended)
  return edits.filter(isLast).map(({ description }) => description)
}

/**
 * Computes the ledger of a copy from two ledgers: one from the start of the copy, and one from the end of all calls
 * that were active during the copy.
 */
export function toCopyLedger(before: Ledger, after: Ledger): Ledger {
  const laterModels = new Map(after.models.map((model) => [model.name, model]))
  const laterKeys = new Map(after.keys.map((key) => [key.id, key]))
  return {
    accounts: before.accounts,
    keys: before.keys.map((key) => ({
      ...key,
      presence: presenceInCopy(key, laterKeys.get(key.id)),
    })),
    models: before.models.map((model) => {
      const later = laterModels.get(model.name)
      return later ? toCopyModel(model, later) : model
    }),
  }
}

function toCopyModel(before: Model, after: Model): Model {
  const mayHave = after.downloads.counted + after.downloads.unknown - before.downloads.counted
  const laterUploads = new Map(after.uploads.map((upload) => [upload.filename, upload]))
  const presence = presenceInCopy(before, after)
  return {
    ...before,
    presence,
    edits: possibleDescriptions(after.edits, before.edits).map((description) => ({
      description,
      began: 0,
      ended: Number.POSITIVE_INFINITY,
      isDone: true,
    })),
    downloads: { counted: before.downloads.counted, unknown: mayHave },
    likes: new Map(
      [...after.likes].map(([username, like]) => {
        const earlier = before.likes.get(username)
        const isUntouched = earlier?.calls === like.calls
        return [username, isUntouched ? like : { ...like, possible: new Set([true, false]) }]
      }),
    ),
    uploads: before.uploads.map((upload) => ({
      ...upload,
      // If the model was being deleted during the copy, its uploads may already have been canceled.
      presence:
        presence === 'unknown'
          ? 'unknown'
          : presenceInCopy(upload, laterUploads.get(upload.filename)),
    })),
  }
}

function presenceInCopy(before: { presence: Presence }, after?: { presence: Presence }): Presence {
  return before.presence === after?.presence ? before.presence : 'unknown'
}
