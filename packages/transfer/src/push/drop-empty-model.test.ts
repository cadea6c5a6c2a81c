import { ApiError } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { dropEmptyModel } from './drop-empty-model.ts'

type Client = Parameters<typeof dropEmptyModel>[0]['client']
type Upload = { filename: string; status?: string; chunks: number; missing: number }

/** A registry whose model has these files, and a list of what has been deleted. */
function registryWith(...files: Upload[]) {
  const deleted: string[] = []
  const client = {
    listFiles: async () =>
      files.map(({ filename, status = 'uploading', chunks }) => ({
        id: filename,
        filename,
        status,
        file_size_bytes: chunks * 16 - 1,
        chunk_size: 16,
      })),
    getUpload: async (_: string, id: string) => ({
      missing_count: files.find(({ filename }) => filename === id)?.missing,
    }),
    deleteFile: async (_: string, id: string) => void deleted.push(id),
    deleteModel: async () => void deleted.push('the model'),
  } as unknown as Client
  return { client, deleted }
}

async function drop(...files: Upload[]): Promise<string[]> {
  const { client, deleted } = registryWith(...files)
  await dropEmptyModel({ client, modelName: 'tide', filenames: ['a.gguf', 'b.gguf'] })
  return deleted
}

test('a model without files, or with uploads that have no data, is deleted', async () => {
  expect(await drop()).toEqual(['the model'])
  const empty = { chunks: 3, missing: 3 }
  const deleted = await drop({ filename: 'a.gguf', ...empty }, { filename: 'b.gguf', ...empty })
  expect(deleted).toEqual(['a.gguf', 'b.gguf', 'the model'])
})

test.each([
  ['an upload with data', { filename: 'a.gguf', chunks: 3, missing: 2 }],
  ['an upload of another client', { filename: 'c.gguf', chunks: 3, missing: 3 }],
  ['a file that is processed', { filename: 'a.gguf', status: 'processing', chunks: 3, missing: 3 }],
  ['a refused file', { filename: 'a.gguf', status: 'failed', chunks: 3, missing: 3 }],
  ['a file that is ready', { filename: 'a.gguf', status: 'ready', chunks: 3, missing: 3 }],
])('a model with %s is kept', async (_, file) => {
  expect(await drop(file)).toEqual([])
})

test.each([404, 409])(
  'a model that the registry refuses to delete with a %i is kept',
  async (status) => {
    const { client } = registryWith()
    const refuse = () => Promise.reject(new ApiError(status, { detail: 'no' }))
    const refusing = { ...client, deleteModel: refuse }
    await dropEmptyModel({ client: refusing, modelName: 'tide', filenames: [] })
  },
)

test('another error is passed on', async () => {
  const { client } = registryWith()
  const fail = () => Promise.reject(new ApiError(500, { detail: 'broken' }))
  const failing = { ...client, listFiles: fail }
  const dropped = dropEmptyModel({ client: failing, modelName: 'tide', filenames: [] })
  await expect(dropped).rejects.toThrow('broken')
})
