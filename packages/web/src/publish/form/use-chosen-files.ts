import { useState } from 'react'
import type { Picked } from '../jobs/picked.ts'
import type { ChosenFile, choicesAmong, RefusedFile } from './chosen-file.ts'

export type Chosen = ReturnType<typeof useChosenFiles>

/**
 * The files to publish. A file's header is read when the file is added. An added file replaces a previously added file
 * with the same name.
 */
export function useChosenFiles() {
  const [files, setFiles] = useState<ChosenFile[]>([])
  const [refused, setRefused] = useState<RefusedFile[]>([])
  const [isReading, setReading] = useState(false)
  const [arrange, setArrange] = useState<typeof choicesAmong>()

  async function add(picked: readonly Picked[]) {
    setReading(true)
    try {
      const reader = await loadReader()
      if (!reader) return setRefused(picked.map(({ file }) => notRead(file)))
      const { choicesAmong, isChosen, readChosen } = reader
      const read = await Promise.all(picked.map(({ file, handle }) => readChosen(file, handle)))
      const good = read.filter(isChosen)
      const names = new Set(good.map(({ filename }) => filename))
      setArrange(() => choicesAmong)
      setFiles((before) => [...before.filter(({ filename }) => !names.has(filename)), ...good])
      setRefused(read.filter((one): one is RefusedFile => !isChosen(one)))
    } finally {
      setReading(false)
    }
  }

  function remove(gone: readonly ChosenFile[]) {
    setFiles((before) => before.filter((file) => !gone.includes(file)))
  }

  return {
    files,
    /** The choices, as on the model's page: the shards of a split file form one choice. */
    choices: arrange?.(files) ?? [],
    sizeBytes: files.reduce((sum, { file }) => sum + file.size, 0),
    refused,
    isReading,
    add,
    remove,
  }
}

/**
 * Loads the module that reads files, when the first file is chosen. Returns undefined if the module cannot be loaded.
 */
async function loadReader() {
  try {
    return await import('./chosen-file.ts')
  } catch (error) {
    if (error instanceof TypeError) return undefined // `import` throws a TypeError if the request fails
    throw error
  }
}

const notRead = ({ name }: File): RefusedFile => ({
  filename: name,
  reason: 'part of this page could not be loaded. Choose the file again',
})
