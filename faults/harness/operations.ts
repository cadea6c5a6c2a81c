/** The operations of a registry's users. Each operation records in the ledger which changes were acknowledged. */
import type { Model as ModelAnswer } from '@shoal/protocol'
import { describe, isDone, isUnknown, type Reply } from './client.ts'
import { type Account, getLike, type Model } from './ledger.ts'
import { nextNumber, type World } from './world.ts'

export async function register({ client, ledger, journal }: World): Promise<Reply> {
  const username = `faulty-${nextNumber()}`
  const password = `password of ${username}`
  const reply = await client.post<{ access_token: string }>('/v1/auth/register', {
    body: { username, password },
  })
  if (isDone(reply)) {
    ledger.accounts.push({ username, password, token: reply.body.access_token })
    journal.note({ did: 'register', username })
  }
  return reply
}

export async function createKey({ client, ledger, journal }: World, { username, token }: Account) {
  const reply = await client.post<{ id: string; key: string }>('/v1/api-keys', {
    token,
    body: { name: `key ${nextNumber()}` },
  })
  if (isDone(reply)) {
    const { id, key } = reply.body
    ledger.keys.push({ id, key, username, presence: 'there' })
    journal.note({ did: 'create key', id, username })
  }
  return reply
}

export async function deleteKey({ client, ledger, journal }: World, { username, token }: Account) {
  const key = ledger.keys.find((one) => one.username === username && one.presence === 'there')
  if (!key) return undefined
  const reply = await client.call('DELETE', `/v1/api-keys/${key.id}`, { token })
  if (isDone(reply)) {
    key.presence = 'gone'
    journal.note({ did: 'delete key', id: key.id })
  } else if (isUnknown(reply)) key.presence = 'unknown'
  return reply
}

export async function createModel(world: World, owner: Account, isPublic = true) {
  const { client, ledger, journal } = world
  const name = `faulty-${nextNumber()}`
  const description = `first words on ${name}`
  const model: Model = {
    name,
    owner,
    isPublic,
    presence: 'unknown',
    isKept: false,
    edits: [{ description, began: nextNumber(), ended: Number.POSITIVE_INFINITY, isDone: false }],
    downloads: { counted: 0, unknown: 0 },
    likes: new Map(),
    uploads: [],
  }
  const reply = await client.post('/v1/models', {
    token: owner.token,
    body: { name, description, is_public: isPublic },
  })
  if (!isDone(reply) && !isUnknown(reply)) return reply
  for (const edit of model.edits) edit.ended = nextNumber()
  ledger.models.push(model)
  if (isDone(reply)) {
    model.presence = 'there'
    journal.note({ did: 'create model', name })
  }
  return reply
}

export async function describeModel({ client, journal }: World, model: Model) {
  const began = nextNumber()
  const description = `words ${began} on ${model.name}`
  const edit = { description, began, ended: Number.POSITIVE_INFINITY, isDone: false }
  model.edits.push(edit)
  const reply = await client.call('PATCH', `/v1/models/${model.name}`, {
    token: model.owner.token,
    body: { description },
  })
  if (isDone(reply)) {
    edit.isDone = true
    journal.note({ did: 'describe', name: model.name, description })
  } else if (!isUnknown(reply)) model.edits = model.edits.filter((one) => one !== edit)
  edit.ended = nextNumber()
  return reply
}

export async function deleteModel({ client, journal }: World, model: Model) {
  const { presence } = model
  model.presence = 'unknown' // from now on, other calls may not find the model
  const reply = await client.call('DELETE', `/v1/models/${model.name}`, {
    token: model.owner.token,
  })
  if (isDone(reply)) {
    model.presence = 'gone'
    journal.note({ did: 'delete model', name: model.name })
  } else if (isUnknown(reply)) forgetUnfinishedUploads(model)
  else model.presence = presence
  return reply
}

/**
 * Records that a model's unfinished uploads may have been canceled. The registry cancels them before it deletes the
 * model. If the registry fails between these steps, the uploads must be started again.
 */
function forgetUnfinishedUploads({ uploads }: Model) {
  for (const upload of uploads.filter(({ stage }) => stage !== 'ready')) {
    upload.stage = 'started'
    upload.storedChunks.clear()
  }
}

/** Sets the like (PUT), or toggles it (POST). */
export async function like({ client, journal, random }: World, account: Account, model: Model) {
  const path = `/v1/models/${model.name}/like`
  const state = getLike(model, account.username)
  const { token } = account
  const liked = random.chance(0.5)
  const isFlip = random.chance(0.3)
  state.calls += 1
  const reply = isFlip
    ? await client.post(path, { token })
    : await client.call('PUT', path, { token, body: { liked } })
  state.calls += 1
  const flipped = new Set([...state.possible].map((one) => !one))
  const after = isFlip ? flipped : new Set([liked])
  if (isDone(reply)) {
    state.possible = after
    journal.note({ did: 'like', model: model.name, username: account.username, is: [...after] })
  } else if (isUnknown(reply)) state.possible = new Set([...state.possible, ...after])
  return reply
}

/** Requests the download information of a ready file, which counts as a download. */
export async function download(
  { client, journal, failures, isExact }: World,
  { model, fileId }: { model: Model; fileId: string },
) {
  const path = `/v1/files/${model.name}/download/${fileId}`
  const reply = await client.get<{ direct_url: string; sha256_hash: string }>(
    path,
    model.owner.token,
  )
  if (isDone(reply)) {
    model.downloads.counted += 1
    journal.note({ did: 'download', model: model.name, file: fileId })
    if (!reply.body.direct_url) {
      failures.wrong('download information has a direct_url', describe(reply))
    }
  } else if (isUnknown(reply) && !(isExact && reply.status === 503)) model.downloads.unknown += 1
  return reply
}

export async function browse({ client, random }: World, { token }: Account, model: Model) {
  const path = random.pick([
    '/v1/models?limit=50',
    `/v1/models/${model.name}`,
    `/v1/models/${model.name}/files`,
    '/v1/stats',
    '/v1/auth/me',
  ])
  return client.get<ModelAnswer>(path, token)
}
