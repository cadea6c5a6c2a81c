import { join } from 'node:path'
import { writeGgufFile } from '@shoal/model-file/testing'
import { type Download, registryClient } from '@shoal/protocol/client'
import { type BenchRegistry, startRegistry } from './registry.ts'
import { note } from './report.ts'
import { runShoal } from './shoal.ts'

export const modelName = 'bench'
export const filename = 'bench.Q8_0.gguf'

/** Creates a GGUF file of `sizeBytes` in `folder` and publishes it in a new registry. */
export async function publishFile(folder: string, sizeBytes: number) {
  const source = join(folder, filename)
  note(`creating and publishing a file of ${sizeBytes} bytes`)
  await writeGgufFile(source, sizeBytes)
  const registry = await startRegistry({ dataDirectory: join(folder, 'registry') })
  const home = join(folder, 'publisher')
  await runShoal(['push', source, '--name', modelName], { home, registry: registry.answer })
  return { source, registry, download: await getDownload(registry) }
}

async function getDownload({ answer }: BenchRegistry): Promise<Download> {
  const client = registryClient({ baseUrl: answer.url, token: answer.token })
  const [file] = await client.listFiles(modelName)
  if (!file) throw new Error('the file was not published')
  return client.getDownload(modelName, file.id)
}
