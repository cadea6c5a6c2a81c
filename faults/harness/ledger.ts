/**
 * What the registry has acknowledged, kept outside of the processes that are killed. An answer that did not come leaves both
 * possible: the change happened, or it did not.
 */

/** `unknown`: the answer to creating or deleting it did not come. */
export type Presence = 'there' | 'gone' | 'unknown'

export type Account = { username: string; password: string; token: string }
export type ApiKey = { id: string; key: string; username: string; presence: Presence }

/** What an account may think of a model; `calls` grows as an attempt to change it begins, and as it ends. */
export type Like = { possible: Set<boolean>; calls: number }

/** A description that was sent. What the registry holds is the last one; of those that overlapped, any may be the last. */
export type Edit = {
  description: string
  /** Numbers that grow with time. */
  began: number
  /** Infinity until it is answered, or known not to be. */
  ended: number
  /** Answered with success. */
  isDone: boolean
}

export type Upload = {
  filename: string
  /** By which its bytes are found. */
  sha256Hash: string
  id: string | undefined
  storedChunks: Set<number>
  stage: 'started' | 'submitted' | 'ready'
  presence: Presence
}

export type Model = {
  name: string
  owner: Account
  isPublic: boolean
  presence: Presence
  /** What happens by chance does not delete it. */
  isKept: boolean
  edits: Edit[]
  /** Calls that were answered with success, and calls that may have counted. */
  downloads: { counted: number; unknown: number }
  /** By username. */
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

/** The descriptions that a model may have after `edits`. Those that came later than `known` supersede nothing. */
export function possibleDescriptions(edits: readonly Edit[], known = edits): string[] {
  const isLast = (edit: Edit) => !known.some(({ isDone, began }) => isDone && began > edit.ended)
  return edits.filter(isLast).map(({ description }) => description)
}

/** What a copy must hold that was made while the registry served, given the ledger when it began and after all calls had ended. */
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
      // The deletion of a model cancels its uploads first.
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
