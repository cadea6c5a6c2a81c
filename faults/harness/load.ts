import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, randomFrom } from '../../bench/harness/random.ts'
import { isDone, type Reply } from './client.ts'
import { makeContent } from './contents.ts'
import type { Account, Model } from './ledger.ts'
import {
  browse,
  createKey,
  createModel,
  deleteKey,
  deleteModel,
  describeModel,
  download,
  like,
} from './operations.ts'
import { deleteFile, goOn, push } from './push.ts'
import { until } from './waiting.ts'
import type { World } from './world.ts'

/** The relative frequencies of the operations. */
const defaultWeights = {
  like: 6,
  download: 8,
  look: 4,
  describe: 2,
  createModel: 1,
  deleteModel: 0.5,
  push: 3,
  deleteFile: 1,
  createKey: 0.5,
  deleteKey: 0.5,
}
export type Operation = keyof typeof defaultWeights
/** The steps that are counted and can be awaited: successful operations, and the steps of a push. */
export type Step = Operation | 'chunk' | 'submit' | 'ready'

export type LoadOptions = {
  /** Weights that override the defaults. */
  weights?: Partial<Record<Operation, number>>
  /** The share of pushed files with several chunks, from 0 to 1. */
  largeShare?: number
  /**
   * The pause of each worker after an operation. Pauses leave processor time for programs that start in the meantime.
   * Default: none.
   */
  pauseMs?: number
}

/** Limits that keep a round's checks short. */
const maxModels = 24
const maxFiles = 40
/** The number of additional workers that only download. Each account performs one operation at a time. */
const downloaders = 2
/** How long to wait for a file to become ready before the next operation. */
const pushTimeoutMs = 3_000
/** The pause after a failed operation, so that a registry that is down is not flooded with requests. */
const failurePauseMs = 30

/** Starts workers that perform random operations for all accounts in the ledger until the load is stopped. */
export function startLoad(world: World, { weights, largeShare = 0, pauseMs = 0 }: LoadOptions) {
  const { ledger } = world
  const chosen = Object.entries({ ...defaultWeights, ...weights }) as [Operation, number][]
  const done = new Map<Step, number>()
  const tried = new Map<Operation, number>()
  let isStopped = false

  const count = <T>(counts: Map<T, number>, what: T) =>
    counts.set(what, (counts.get(what) ?? 0) + 1)

  async function act(account: Account, random: Random, kinds: typeof chosen) {
    while (!isStopped) {
      const kind = pickWeighted(random, kinds)
      const reply = await operate(kind, account, random)
      if (reply) count(tried, kind)
      if (reply && isDone(reply)) count(done, kind)
      else await sleep(reply ? failurePauseMs : 1)
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }

  function operate(
    kind: Operation,
    account: Account,
    random: Random,
  ): Promise<Reply | undefined> | undefined {
    const ofAll = ledger.models.filter(({ presence }) => presence === 'there')
    const seen = ofAll.filter(({ isPublic, owner }) => isPublic || owner === account)
    const own = ofAll.filter(({ owner }) => owner === account)
    const mine = pickAny(random, own)
    const other = pickAny(random, seen)
    switch (kind) {
      case 'like':
        return other && like({ ...world, random }, account, other)
      case 'look':
        return other && browse({ ...world, random }, account, other)
      case 'download': {
        const file = pickAny(random, readyFiles(ofAll))
        if (file?.upload.id === undefined) return undefined
        return download(world, { model: file.model, fileId: file.upload.id })
      }
      case 'describe':
        return mine && describeModel(world, mine)
      case 'createModel':
        return ofAll.length < maxModels
          ? createModel(world, account, random.chance(0.8))
          : undefined
      case 'deleteModel': {
        const model = pickAny(
          random,
          own.filter(({ isKept }) => !isKept),
        )
        return model && deleteModel(world, model)
      }
      case 'push': {
        const givesUpAt = performance.now() + pushTimeoutMs
        const isOver = () => isStopped || performance.now() > givesUpAt
        const onProgress = (step: Step) => count(done, step)
        const unfinished = pickAny(random, unfinishedUploads(own))
        const isFull = ledger.models.flatMap(listFiles).length >= maxFiles
        if (unfinished && (isFull || random.chance(0.3))) {
          return goOn(world, { ...unfinished, onProgress, isOver })
        }
        if (isFull) return makeRoom(own, random)
        if (!mine) return undefined
        const content = makeContent(random, random.chance(largeShare) ? 'large' : 'small')
        return push(world, { model: mine, content, onProgress, isOver })
      }
      case 'deleteFile': {
        const file = pickAny(random, readyFiles(own.filter(({ isKept }) => !isKept)))
        return file && deleteFile(world, file.model, file.upload)
      }
      case 'createKey':
        return ledger.keys.length < maxFiles ? createKey(world, account) : undefined
      case 'deleteKey':
        return deleteKey(world, account)
    }
  }

  /** Deletes a file, so that pushes can continue no matter how long the load lasts. */
  async function makeRoom(own: Model[], random: Random): Promise<undefined> {
    const file = pickAny(random, readyFiles(own.filter(({ isKept }) => !isKept)))
    if (file) await deleteFile(world, file.model, file.upload)
  }

  const seeds = randomFrom(world.random.integer(2 ** 31))
  const running = ledger.accounts.map((account) =>
    act(account, randomFrom(seeds.integer(2 ** 31)), chosen),
  )
  const [first] = ledger.accounts
  for (let number = 0; first && number < downloaders; number += 1) {
    running.push(act(first, randomFrom(seeds.integer(2 ** 31)), [['download', 1]]))
  }
  const end = () => {
    isStopped = true
  }
  let error: unknown
  const ended = Promise.all(running).catch((thrown) => {
    error = thrown // rethrown by the methods below
    end()
  })

  async function untilCount(what: string, timeoutMs: number, count: () => number, goal: number) {
    await until(what, timeoutMs * world.timeoutFactor, () => {
      if (error) throw error
      return count() >= goal
    })
  }

  return {
    /** Waits until a step has succeeded this many more times. */
    async untilDone(step: Step, times: number) {
      const now = () => done.get(step) ?? 0
      const what = `the number of successful "${step}" steps has grown by ${times}`
      await untilCount(what, 20_000, now, now() + times)
    },

    /** Waits for this many more attempts, whether they succeed or not. */
    async untilTried(operation: Operation, times: number) {
      const now = () => tried.get(operation) ?? 0
      await untilCount(
        `the number of "${operation}" attempts has grown by ${times}`,
        40_000,
        now,
        now() + times,
      )
    },

    /** Stops the load, and resolves when the last operation has ended. */
    async stop() {
      end()
      await ended
      if (error) throw error
    },

    /** Stops the load without waiting for the operations in progress. */
    end,
  }
}

function listFiles(model: Model) {
  return model.uploads
    .filter(({ presence }) => presence !== 'gone')
    .map((upload) => ({ model, upload }))
}

function readyFiles(models: Model[]) {
  return models
    .flatMap(listFiles)
    .filter(({ upload }) => upload.stage === 'ready' && upload.presence === 'there')
}

/** Returns the uploads to resume. A round may be pushing others itself, for an account of the load. */
function unfinishedUploads(models: Model[]) {
  return models
    .flatMap(listFiles)
    .filter(({ upload }) => upload.stage === 'started' && !upload.isActive)
}

function pickAny<T>(random: Random, choices: readonly T[]): T | undefined {
  return choices.length === 0 ? undefined : random.pick(choices)
}

function pickWeighted(random: Random, weighted: readonly [Operation, number][]): Operation {
  const total = weighted.reduce((sum, [, weight]) => sum + weight, 0)
  let left = random.next() * total
  for (const [kind, weight] of weighted) {
    left -= weight
    if (left < 0) return kind
  }
  return 'look'
}
