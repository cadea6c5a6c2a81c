import { describe, isDone, type Reply } from './harness/client.ts'
import { makeContent } from './harness/contents.ts'
import { createKey, createModel, download, like, register } from './harness/operations.ts'
import { push } from './harness/push.ts'
import type { World } from './harness/world.ts'

const accounts = 3

/**
 * Fills a new registry with accounts, API keys, models, files, likes and downloads. Throws if a request fails, because
 * no fault has been injected yet.
 */
export async function fill(world: World) {
  const { ledger, random } = world
  await inParallel(Array.from({ length: accounts }, () => register(world)))
  await inParallel(
    ledger.accounts.flatMap((account) => [
      createModel(world, account),
      createModel(world, account, false),
      createKey(world, account),
    ]),
  )
  for (const model of ledger.models) model.isKept = model.isPublic
  const [first] = ledger.models
  await inParallel(
    ledger.models.map((model) =>
      push(world, {
        model,
        content: makeContent(random, model === first ? 'large' : 'small'),
        isOver: () => false,
      }),
    ),
  )
  await inParallel(
    ledger.models.flatMap((model) => {
      const [upload] = model.uploads
      const fileId = upload?.id
      return [
        like(world, model.owner, model),
        ...(fileId === undefined ? [] : [download(world, { model, fileId })]),
      ]
    }),
  )
}

async function inParallel(work: Promise<Reply>[]) {
  const failed = (await Promise.all(work)).find((reply) => !isDone(reply))
  if (failed) throw new Error(`the registry could not be filled: ${describe(failed)}`)
}
