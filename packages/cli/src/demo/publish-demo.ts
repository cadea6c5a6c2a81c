import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { exists } from '@shoal/files'
import { ApiError, type RegistryClient } from '@shoal/protocol/client'
import type { Printer } from '../terminal/printer.ts'
import { pushFiles } from '../transfers/push-files.ts'
import { type DemoFolder, listDemoFolders } from './demo-models.ts'

type DemoOptions = {
  client: RegistryClient
  /** The folder of the demo models. */
  directory: string
  /** The registry's data folder. */
  dataDirectory: string
  signal: AbortSignal
}

/**
 * Publishes the demo models on an empty registry. A marker file exists in the data folder until all of them are
 * published. If the registry is not empty, publishing resumes only if this file exists, so that demo models that have
 * been deleted are not published again.
 */
export async function publishDemo(printer: Printer, options: DemoOptions): Promise<void> {
  const { client, directory, dataDirectory, signal } = options
  const mark = join(dataDirectory, 'demo-unfinished')
  const isInterrupted = await exists(mark)
  const isEmpty = (await client.listModels({ limit: 1 }, signal)).total === 0
  if (!isEmpty && !isInterrupted) return
  const folders = await listDemoFolders(directory)
  if (folders.length === 0) return

  printer.note(
    isInterrupted ? 'Resuming the publication of the demo models:' : 'Publishing the demo models:',
  )
  await writeFile(
    mark,
    'The demo models are being published. If publishing is interrupted, it resumes the next time shoal up starts.\n',
  )
  for (const folder of folders) await publishFolder(printer, options, folder)
  await rm(mark, { force: true })
}

async function publishFolder(
  printer: Printer,
  { client, signal }: DemoOptions,
  folder: DemoFolder,
) {
  const { name } = folder.model
  const readyNames = await makeModel(client, folder)
  const missing = folder.files.filter((path) => !readyNames.has(basename(path)))
  const files = await Promise.all(
    missing.map(async (path) => ({
      path,
      filename: basename(path),
      sizeBytes: (await stat(path)).size,
    })),
  )
  if (files.length > 0) await pushFiles(printer, { client, modelName: name, files, signal })
}

/** Creates the model if necessary, and returns the names of its files that are ready. */
async function makeModel(
  client: RegistryClient,
  { model, card }: DemoFolder,
): Promise<Set<string>> {
  const files = await client.listFiles(model.name, { status: 'all' }).catch((error: unknown) => {
    if (error instanceof ApiError && error.problem.code === 'model_unknown') return undefined
    throw error
  })
  if (files === undefined) {
    const readme = card && (await readFile(card, 'utf8'))
    await client.createModel({ ...model, ...(readme && { readme }) })
  }
  const ready = (files ?? []).filter(({ status }) => status === 'ready')
  return new Set(ready.map(({ filename }) => filename))
}
