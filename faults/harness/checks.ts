/**
 * Checks the registry after a fault: everything that it acknowledged must exist, nothing may be incomplete, and new
 * requests must succeed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Model as ModelAnswer, ModelFile } from '@shoal/protocol'
import { describe, isDone, type Reply } from './client.ts'
import { makeContent, sha256 } from './contents.ts'
import { getLike, type Model, type Presence, possibleDescriptions } from './ledger.ts'
import { createModel, deleteModel, download, like, register } from './operations.ts'
import { deleteFile, goOn, push, untilReady } from './push.ts'
import type { World } from './world.ts'

type CheckOptions = {
  /**
   * Whether the registry runs on a copy of the data. Chunks of uploads that were active during the copy may have to be
   * sent again.
   */
  isCopy?: boolean
}

export async function checkEverything(world: World, options: CheckOptions = {}) {
  await checkAccounts(world)
  await checkKeys(world)
  const existing = await checkModels(world)
  for (const model of existing) await checkLikes(world, model)
  await checkUploads(world, existing, options)
  await checkListedFiles(world)
  await checkDownloads(world, existing)
  await checkNextTry(world)
}

async function checkAccounts({ client, ledger, failures }: World) {
  for (const { username, token } of ledger.accounts) {
    const reply = await client.get<{ username: string }>('/v1/auth/me', token)
    if (!isDone(reply) || reply.body.username !== username) {
      failures.lost('a session that was created is valid', describe(reply))
    }
  }
  const [first] = ledger.accounts
  if (!first) return
  const { username, password } = first
  const reply = await client.post('/v1/auth/login', { body: { username, password } })
  if (!isDone(reply)) failures.lost('an account that was created can sign in', describe(reply))
}

async function checkKeys({ client, ledger, failures }: World) {
  for (const { key, presence } of ledger.keys) {
    if (presence === 'unknown') continue
    const reply = await client.get('/v1/auth/me', key)
    if (presence === 'there' && !isDone(reply)) {
      failures.lost('an API key that was created works', describe(reply))
    }
    if (presence === 'gone' && reply.status !== 401) {
      failures.lost('an API key that was deleted is refused', describe(reply))
    }
  }
}

/** Checks all models, and returns those that exist. */
async function checkModels({ client, ledger, failures }: World): Promise<Model[]> {
  const existing: Model[] = []
  for (const model of ledger.models) {
    const path = `/v1/models/${model.name}`
    const reply = await client.get<ModelAnswer>(path, model.owner.token)
    const found = isDone(reply) ? 'there' : reply.status === 404 ? 'gone' : 'unknown'
    if (found === 'unknown' || differs(model.presence, found)) {
      failures.lost(`a model that was ${deed(model.presence)}`, describe(reply))
    }
    if (found !== 'there') continue
    existing.push(model)
    const possible = possibleDescriptions(model.edits)
    if (!possible.includes(reply.body.description ?? '')) {
      const expected = possible.join('" or "')
      failures.lost(`a model is described as "${expected}"`, `"${reply.body.description}"`)
    }
  }
  return existing
}

async function checkLikes({ client, ledger, failures }: World, model: Model) {
  let likes = -1
  let likers = 0
  const viewers = ledger.accounts.filter((one) => model.isPublic || one === model.owner)
  for (const { username, token } of viewers) {
    const reply = await client.get<ModelAnswer>(`/v1/models/${model.name}`, token)
    if (!isDone(reply)) return failures.lost('a model can be read', describe(reply))
    const liked = reply.body.liked === true
    if (liked) likers += 1
    likes = reply.body.likes
    const state = getLike(model, username)
    if (!state.possible.has(liked)) failures.lost(`"liked" is ${!liked}`, `${liked}`)
    state.possible = new Set([liked])
  }
  if (viewers.length > 0 && likes !== likers) {
    failures.wrong(
      'a model has as many likes as there are accounts that like it',
      `likes: ${likes}, accounts: ${likers}`,
    )
  }
}

/** How long submitted files may take to become ready, including the time until a lease expires. */
const readyTimeoutMs = 30_000

/** Checks that every upload is in the state that was acknowledged, and that interrupted uploads can be completed. */
async function checkUploads(world: World, existing: Model[], { isCopy = false }: CheckOptions) {
  const { client, failures } = world
  const endsAt = performance.now() + readyTimeoutMs * world.timeoutFactor
  const isOver = () => performance.now() > endsAt
  for (const model of existing) {
    for (const upload of model.uploads) {
      if (upload.presence === 'gone' || (upload.presence === 'unknown' && upload.id)) {
        const path = `/v1/models/${model.name}/files/${upload.id}`
        const reply = upload.id ? await client.get(path, model.owner.token) : undefined
        if (upload.presence === 'gone' && reply && reply.status !== 404) {
          failures.lost('a file that was deleted stays deleted', describe(reply))
        }
        if (!reply || reply.status === 404) continue
        if (isCopy) continue // the file was deleted during the copy, so the copy may lack parts of it
      }
      const { stage } = upload
      if (isCopy) upload.storedChunks.clear()
      const pushing = { model, upload, isOver }
      let reply = await (stage === 'started' ? goOn : untilReady)(world, pushing)
      const mayLackChunks = isCopy || !world.keepsChunks
      if (mayLackChunks && stage === 'submitted' && getStatus(reply) === 'uploading') {
        upload.stage = 'started' // the file was moved during the copy, or the disk lost unsynced chunks: send them again
        reply = await goOn(world, pushing)
      }
      const { status, status_detail: detail } = (reply.body ?? {}) as Partial<ModelFile>
      if (isDone(reply) && status === 'ready') continue
      const seen = isDone(reply) ? `${status}${detail ? `: ${detail}` : ''}` : describe(reply)
      if (stage === 'ready') failures.lost('a file that was ready is still ready', seen)
      else if (stage === 'started') {
        failures.stuck('an interrupted upload can be resumed and becomes ready', seen)
      } else if (status === 'processing' || status === 'uploading') {
        failures.stuck('a submitted file becomes ready by itself', seen)
      } else failures.lost('a submitted file becomes ready', seen)
    }
  }
}

const getStatus = (reply: Reply) => (reply.body as Partial<ModelFile> | undefined)?.status

/** Checks that every listed file is ready, and that its bytes match the listed size and hash. */
async function checkListedFiles(world: World) {
  const { client, ledger, failures } = world
  const names = new Map<string, string | undefined>()
  for (const token of [undefined, ...ledger.accounts.map((one) => one.token)]) {
    const reply = await client.get<ModelAnswer[]>('/v1/models?limit=200', token)
    if (!isDone(reply)) failures.wrong('the models can be listed', describe(reply))
    else for (const { name } of reply.body) if (!names.has(name)) names.set(name, token)
  }
  for (const [name, token] of names) {
    const model = ledger.models.find((one) => one.name === name)
    const path = `/v1/models/${name}`
    const shown = await client.get<ModelAnswer & { files_count: number; total_size_bytes: number }>(
      path,
      token,
    )
    const listed = await client.get<ModelFile[]>(`${path}/files`, token)
    if (!isDone(listed) || !isDone(shown)) {
      failures.wrong('a listed model and its files can be read', describe(listed))
      continue
    }
    const bytes = listed.body.reduce((sum, { file_size_bytes }) => sum + file_size_bytes, 0)
    const { files_count, total_size_bytes } = shown.body
    if (files_count !== listed.body.length || total_size_bytes !== bytes) {
      failures.wrong(
        `the model's totals match its files (files: ${listed.body.length}, bytes: ${bytes})`,
        `files: ${files_count}, bytes: ${total_size_bytes}`,
      )
    }
    for (const file of listed.body) {
      await checkBytes(world, { name, token, model, file })
    }
  }
}

type ListedFile = {
  name: string
  token: string | undefined
  model: Model | undefined
  file: ModelFile
}

async function checkBytes(world: World, { name, token, model, file }: ListedFile) {
  const { client, failures } = world
  const { id, status, sha256_hash, file_size_bytes } = file
  if (status !== 'ready') failures.wrong('only ready files are listed', `a file is ${status}`)
  const info = model
    ? await download(world, { model, fileId: id })
    : await client.get<{ direct_url: string }>(`/v1/files/${name}/download/${id}`, token)
  if (!isDone(info)) {
    return failures.wrong('a listed file can be downloaded', describe(info))
  }
  const { bytes, status: answered } = await client.get(info.body.direct_url)
  if (answered !== 200 || bytes.length !== file_size_bytes) {
    const seen = `status ${answered}, ${bytes.length} bytes`
    return failures.wrong(`a listed file has ${file_size_bytes} bytes`, seen)
  }
  const found = sha256(bytes)
  if (found !== sha256_hash) failures.wrong(`a served file has the SHA-256 ${sha256_hash}`, found)
}

/** Checks the download counts, which are then known. It runs after the other checks, because those also download files. */
async function checkDownloads({ client, failures, countDelayMs }: World, existing: Model[]) {
  const endsAt = performance.now() + countDelayMs
  for (const { name, owner, downloads } of existing) {
    const read = () => client.get<ModelAnswer>(`/v1/models/${name}`, owner.token)
    let reply = await read()
    while (isDone(reply) && reply.body.downloads < downloads.counted) {
      if (performance.now() > endsAt) break
      await sleep(100)
      reply = await read()
    }
    if (!isDone(reply)) continue // reported before
    const { counted, unknown } = downloads
    const found = reply.body.downloads
    if (found < counted) {
      failures.lost(`acknowledged downloads are counted: ${counted}`, `counted: ${found}`)
    }
    if (found > counted + unknown) {
      const expected = `at most ${counted} + ${unknown} downloads are counted`
      failures.wrong(expected, `counted: ${found}`)
    }
    Object.assign(downloads, { counted: found, unknown: 0 }) // what later harms may change
  }
}

/** Checks that a new account can perform all operations, without help from an administrator. */
async function checkNextTry(world: World) {
  const { ledger, failures, random } = world
  const expect = (what: string, reply: Parameters<typeof describe>[0]) => {
    if (!isDone(reply)) failures.stuck(`after the fault, ${what}`, describe(reply))
    return isDone(reply)
  }
  if (!expect('an account can be created', await register(world))) return
  const account = ledger.accounts.at(-1)
  if (!account || !expect('a model can be created', await createModel(world, account))) return
  const model = ledger.models.at(-1)
  if (!model) return
  expect('a model can be liked', await like(world, account, model))
  const endsAt = performance.now() + readyTimeoutMs * world.timeoutFactor
  const content = makeContent(random, 'small')
  const isOver = () => performance.now() > endsAt
  expect('a file can be pushed', await push(world, { model, content, isOver }))
  const upload = model.uploads.at(-1)
  if (!upload?.id || upload.stage !== 'ready') {
    return failures.stuck('after the fault, a pushed file becomes ready', 'it is not ready')
  }
  const fileId = upload.id
  expect('a file can be downloaded', await download(world, { model, fileId }))
  await checkLikes(world, model)
  await checkDownloads(world, [model])
  expect('a file can be deleted', await deleteFile(world, model, upload))
  expect('a model can be deleted', await deleteModel(world, model))
}

function differs(presence: Presence, found: Presence): boolean {
  return presence !== 'unknown' && presence !== found
}

function deed(presence: Presence): string {
  return presence === 'gone' ? 'deleted stays deleted' : 'created exists'
}
