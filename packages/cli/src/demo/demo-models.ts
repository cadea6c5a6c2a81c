/** The demo models in the repository. `shoal up` publishes them on a new registry. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreMissing } from '@shoal/files'
import type { NewModel } from '@shoal/protocol/client'

export const demoDirectory = join(import.meta.dirname, '../../../../models')

/** The demo model that `shoal up` loads for chats. */
export const talkingDemo = 'shoal-tiny'

type DemoModel = Omit<NewModel, 'readme'> & { name: string }

const demoModels: readonly DemoModel[] = [
  {
    name: talkingDemo,
    display_name: 'Shoal Tiny',
    description:
      'A very small chat model made for shoal: it answers in simple English, offline, on any machine.',
    license: 'apache-2.0',
    tags: ['chat', 'english', 'demo', 'tiny'],
  },
  {
    name: 'shoal-nano',
    display_name: 'Shoal Nano',
    description: 'The smaller sibling of Shoal Tiny, for trying things out in a second.',
    license: 'apache-2.0',
    tags: ['chat', 'english', 'demo', 'tiny'],
  },
]

export type DemoFolder = { model: DemoModel; card: string | undefined; files: string[] }

/** Returns the demo models that exist in the folder, with the paths of their files. */
export async function listDemoFolders(directory: string): Promise<DemoFolder[]> {
  const folders = await Promise.all(
    demoModels.map(async (model) => {
      const folder = join(directory, model.name)
      const names = await namesIn(folder)
      const files = names.filter((name) => name.endsWith('.gguf')).map((name) => join(folder, name))
      return {
        model,
        card: names.includes('README.md') ? join(folder, 'README.md') : undefined,
        files,
      }
    }),
  )
  return folders.filter(({ files }) => files.length > 0)
}

async function namesIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(ignoreMissing)) ?? []
  return names.toSorted()
}
