/** Faults in which the store's or the database's disk is full or read-only. */
import { join } from 'node:path'
import { type ImageDisk, mountImage } from '../testing/image-disk.ts'
import type { Fault, Place, Round } from './fault.ts'
import { describe, isDone, type Reply } from './harness/client.ts'
import { makeContent } from './harness/contents.ts'
import { fillDisk, type MemoryDisk, mountMemory } from './harness/disks.ts'
import type { Account, Model } from './harness/ledger.ts'
import { browse, createModel, deleteModel, download, like } from './harness/operations.ts'
import { deleteFile, push } from './harness/push.ts'
import { until } from './harness/waiting.ts'
import { inTurn } from './in-turn.ts'

export const diskFaults: Fault[] = [
  {
    name: 'disk-full',
    summary: 'Push until the disk shared by database and store is full and pushes are refused.',
    needs: ['permission to mount'],
    engines: ['sqlite'],
    arrange({ cleanup, dataDirectory }) {
      const disk = cleanup.use(mountMemory(dataDirectory, 90))
      return { strike: (round) => fillByPushes(round, disk) }
    },
  },
  {
    name: 'store-disk',
    summary:
      "Fill the store's disk completely, but not the database's, and then make it read-only for several seconds.",
    needs: ['permission to mount'],
    engines: ['sqlite', 'postgres'],
    arrange(place) {
      const disk = mountStore(place, 80)
      return {
        strike: inTurn(
          (round) => fillStore(round, disk),
          (round) => makeStoreReadOnly(round, disk),
        ),
      }
    },
  },
  {
    name: 'database-full',
    summary: "Fill the database's disk completely, but not the store's.",
    needs: ['permission to mount'],
    engines: ['sqlite'],
    arrange(place) {
      const disk = place.cleanup.use(mountMemory(place.dataDirectory, 24))
      mountStore(place, 400)
      return { strike: (round) => fillDatabase(round, disk) }
    },
  },
  {
    name: 'database-read-only',
    summary: "Make the database's disk fail during use, so that the kernel makes it read-only.",
    needs: ['a loop device with ext4'],
    engines: ['sqlite'],
    arrange({ cleanup, folder, dataDirectory }) {
      const disk = cleanup.use(mountImage(join(folder, 'image'), dataDirectory))
      return { losesUnsyncedWrites: true, strike: (round) => failDatabase(round, disk) }
    },
  },
]

function mountStore({ dataDirectory, cleanup }: Place, megabytes: number): MemoryDisk {
  return cleanup.use(mountMemory(join(dataDirectory, 'store'), megabytes))
}

/** Checks that the space reserved by the registry, which pushes may not use, is enough for all other operations. */
async function fillByPushes(round: Round, disk: MemoryDisk) {
  const { account, model } = await prepareModel(round)
  const load = round.startLoad()
  await expectRefusal(round, model)
  await load.untilTried('like', 40)
  await load.untilTried('push', 3)
  await load.untilTried('download', 40)
  await load.stop()
  await expectLife(round, account, model)
  disk.resize(1_000)
}

async function fillStore(round: Round, disk: MemoryDisk) {
  const { account, model } = await prepareModel(round)
  const load = round.startLoad()
  await expectRefusal(round, model)
  const filler = fillDisk(disk)
  await load.untilTried('push', 3)
  await load.untilTried('download', 20)
  await load.stop()
  await expectLife(round, account, model)
  filler.remove()
  disk.resize(1_000)
}

/** Pushes files until the disk has no space for the next one, and checks how that push is refused. */
async function expectRefusal(round: Round, model: Model) {
  let refusal: Reply | undefined
  for (let pushes = 0; pushes < 8 && !refusal; pushes += 1) {
    const reply = await pushHere(round, model, 'large')
    if (!isDone(reply)) refusal = reply
  }
  const code = (refusal?.body as { code?: string } | undefined)?.code
  if (refusal?.status !== 503 || code !== 'storage_full') {
    const seen = refusal ? describe(refusal) : 'every push succeeded'
    round.failures.wrong('a push to a full disk is refused with 503 storage_full', seen)
  }
}

/** Checks that everything except pushes still works, most importantly deletion. */
async function expectLife(round: Round, account: Account, model: Model) {
  const { world } = round
  const [ready] = model.uploads
  await expectReads(round, account, model)
  await expectDone(round, 'a model can be liked', like(world, account, model))
  if (ready) await expectDone(round, 'a file can be deleted', deleteFile(world, model, ready))
  const unfinished = model.uploads.find(({ id, stage }) => id && stage === 'started')
  if (unfinished) {
    const deletion = deleteFile(world, model, unfinished)
    await expectDone(round, 'an unfinished upload can be deleted', deletion)
  }
}

async function makeStoreReadOnly(round: Round, disk: MemoryDisk) {
  const { account, model } = await prepareModel(round)
  const load = round.startLoad({ weights: { push: 10 } })
  await load.untilDone('push', 3)
  // The kernel refuses to make the disk read-only while a chunk is being written, but not between two chunks.
  await until('the disk is read-only', 20_000 * round.timeoutFactor, () => disk.makeReadOnly())
  await load.untilTried('push', 5)
  await load.untilTried('download', 20)
  await expectReads(round, account, model)
  disk.makeWritable()
  await load.untilTried('push', 3)
  await load.stop()
}

async function fillDatabase(round: Round, disk: MemoryDisk) {
  const { world, startLoad } = round
  const { account, model } = await prepareModel(round)
  const load = startLoad()
  await load.untilDone('like', 20)
  const filler = fillDisk(disk)
  await load.untilTried('like', 60)
  await load.untilTried('push', 3)
  await load.untilTried('download', 60)
  await load.stop()
  await expectReads(round, account, model)
  await expectDone(round, 'a model can be deleted', deleteModel(world, model))
  filler.remove()
}

async function failDatabase(round: Round, disk: ImageDisk) {
  const { world, registry, startLoad } = round
  const { account, model } = await prepareModel(round)
  const load = startLoad()
  await load.untilDone('like', 20)
  disk.failWrites()
  await load.untilTried('like', 40)
  await load.untilTried('download', 40)
  await load.untilTried('push', 2)
  await load.stop()
  await expectDone(round, 'reads succeed', browse(world, account, model))
  await registry.stop()
  disk.repair()
}

/** Creates a model with a ready file. */
async function prepareModel(round: Round): Promise<{ account: Account; model: Model }> {
  const { world } = round
  const { ledger } = world
  const [account] = ledger.accounts
  if (!account) throw new Error('the ledger has no account')
  const made = await createModel(world, account)
  const model = ledger.models.at(-1)
  if (!isDone(made) || !model) throw new Error(`the model could not be created: ${describe(made)}`)
  model.isKept = true
  const pushed = await pushHere(round, model, 'small')
  if (!isDone(pushed)) throw new Error(`the file could not be pushed: ${describe(pushed)}`)
  return { account, model }
}

async function pushHere({ world }: Round, model: Model, size: 'small' | 'large') {
  const content = makeContent(world.random, size)
  const givesUpAt = performance.now() + 5_000 * world.timeoutFactor
  const isOver = () => performance.now() > givesUpAt
  return push(world, { model, content, isOver })
}

/** Checks that reads and requests for download information succeed, no matter which disk is full or read-only. */
async function expectReads(round: Round, account: Account, model: Model) {
  const { world } = round
  const fileId = model.uploads[0]?.id
  if (fileId === undefined) throw new Error('the model has no file to download')
  await expectDone(round, '/healthz succeeds', world.client.get('/healthz'))
  for (let times = 0; times < 5; times += 1) {
    await expectDone(round, 'reads succeed', browse(world, account, model))
    await expectDone(round, 'download information is available', download(world, { model, fileId }))
  }
}

async function expectDone({ failures }: Round, what: string, work: Promise<Reply>) {
  const reply = await work
  if (!isDone(reply)) failures.wrong(`with a full or read-only disk, ${what}`, describe(reply))
}
