import { setTimeout as sleep } from 'node:timers/promises'
import type { StartedUpload } from '@shoal/protocol'
import { describe, isDone, isUnknown, type Reply } from './client.ts'
import { type Content, sliceChunk } from './contents.ts'
import type { Model, Upload } from './ledger.ts'
import { nextNumber, type World } from './world.ts'

/** Called for each acknowledged step of an upload. */
export type OnProgress = (step: 'chunk' | 'submit' | 'ready') => void

type Pushing = {
  model: Model
  upload: Upload
  onProgress?: OnProgress | undefined
  /** Returns whether to stop waiting for a file that is still being processed. */
  isOver: () => boolean
}

/** The intervals at which a file's state is polled. They grow, because a file may have to wait for a lease to expire. */
const pollMs = { first: 20, last: 320 }

/**
 * Publishes new bytes, and records the progress. Returns the last response: a 200 if the file is ready, otherwise a
 * response that describes why it is not.
 */
export async function push(
  world: World,
  { content, ...watching }: Omit<Pushing, 'upload'> & { content: Content },
): Promise<Reply> {
  const sha256Hash = content.manifest.sha256_hash
  world.contents.set(sha256Hash, content)
  const upload: Upload = {
    filename: `file-${nextNumber()}.gguf`,
    sha256Hash,
    id: undefined,
    storedChunks: new Set(),
    stage: 'started',
    isActive: false,
    presence: 'unknown',
  }
  watching.model.uploads.push(upload)
  const reply = await goOn(world, { ...watching, upload })
  if (upload.id === undefined && !isUnknown(reply)) upload.presence = 'gone' // the upload was refused
  return reply
}

/** Starts or resumes an upload, and waits until the file is ready. Returns the last response, like `push`. */
export async function goOn(world: World, pushing: Pushing): Promise<Reply> {
  pushing.upload.isActive = true
  try {
    return await sendFile(world, pushing)
  } finally {
    pushing.upload.isActive = false
  }
}

async function sendFile(world: World, pushing: Pushing): Promise<Reply> {
  const { client, journal, failures, keepsChunks } = world
  const { model, upload } = pushing
  const content = world.contents.get(upload.sha256Hash)
  if (!content) throw new Error(`the bytes of ${upload.filename} are unknown`)
  const { token } = model.owner
  const files = `/v1/models/${model.name}/files`

  const storedBefore = upload.stage === 'started' ? new Set(upload.storedChunks) : new Set()
  const started = await client.post<StartedUpload>(files, {
    token,
    body: { filename: upload.filename, ...content.manifest },
  })
  if (!isDone(started)) return started
  upload.id = started.body.id
  upload.presence = 'there'
  journal.note({ did: 'start upload', model: model.name, file: upload.id })

  const missing = started.body.upload.missing_chunks
  for (const { index } of missing) {
    if (keepsChunks && storedBefore.has(index)) {
      failures.lost('a stored chunk stays stored', `chunk ${index} is missing`)
    }
  }
  if (started.body.status === 'uploading') {
    const sent = await Promise.all(missing.map((chunk) => sendChunk(world, pushing, chunk)))
    const refused = sent.find((reply) => !isDone(reply))
    if (refused) return refused
    const submitted = await client.post(`${files}/${upload.id}/complete`, { token })
    if (!isDone(submitted)) return submitted
    upload.stage = 'submitted'
    journal.note({ did: 'submit', file: upload.id })
    pushing.onProgress?.('submit')
  }
  return untilReady(world, pushing)
}

async function sendChunk(
  { client, journal, contents }: World,
  { upload, onProgress }: Pushing,
  { index, url, headers }: StartedUpload['upload']['missing_chunks'][number],
): Promise<Reply> {
  const content = contents.get(upload.sha256Hash)
  const bytes = content && sliceChunk(content, index)
  const reply = await client.call('PUT', url, { headers, ...(bytes && { bytes }) })
  if (isDone(reply)) {
    upload.storedChunks.add(index)
    journal.note({ did: 'store chunk', file: upload.id, index })
    onProgress?.('chunk')
  }
  return reply
}

/**
 * Polls a submitted file until it is no longer being processed, until a request fails, or until `isOver` returns true.
 * Returns the last response.
 */
export async function untilReady(
  world: World,
  { model, upload, onProgress, isOver }: Pushing,
): Promise<Reply> {
  const path = `/v1/models/${model.name}/files/${upload.id}`
  const { token } = model.owner
  const poll = () => world.client.get<{ status: string }>(path, token)
  let reply = await poll()
  let waitMs = pollMs.first
  while (isDone(reply) && reply.body.status === 'processing' && !isOver()) {
    await sleep(waitMs)
    waitMs = Math.min(2 * waitMs, pollMs.last)
    reply = await poll()
  }
  if (!isDone(reply)) return reply
  if (reply.body.status === 'ready') {
    upload.stage = 'ready'
    world.journal.note({ did: 'ready', file: upload.id })
    onProgress?.('ready')
  } else if (reply.body.status === 'failed') {
    world.failures.wrong('a file with the correct bytes becomes ready', describe(reply))
  }
  return reply
}

export async function deleteFile({ client, journal }: World, model: Model, upload: Upload) {
  const { presence } = upload
  upload.presence = 'unknown'
  const path = `/v1/models/${model.name}/files/${upload.id}`
  const reply = await client.call('DELETE', path, { token: model.owner.token })
  if (isDone(reply)) {
    upload.presence = 'gone'
    journal.note({ did: 'delete file', file: upload.id })
  } else if (!isUnknown(reply)) upload.presence = presence
  return reply
}
