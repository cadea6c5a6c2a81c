import { useState } from 'react'
import { type ChosenFile, isChosen, type RefusedFile, readChosen } from './chosen-file.ts'
import type { Picked } from './picked.ts'

export type Chosen = ReturnType<typeof useChosenFiles>

/** The files to publish, read as they come. A file takes the place of another of its name. */
export function useChosenFiles() {
  const [files, setFiles] = useState<ChosenFile[]>([])
  const [refused, setRefused] = useState<RefusedFile[]>([])
  const [isReading, setReading] = useState(false)

  async function add(picked: readonly Picked[]) {
    setReading(true)
    try {
      const read = await Promise.all(picked.map(({ file, handle }) => readChosen(file, handle)))
      const good = read.filter(isChosen)
      const names = new Set(good.map(({ filename }) => filename))
      setFiles((before) => [...before.filter(({ filename }) => !names.has(filename)), ...good])
      setRefused(read.filter((one): one is RefusedFile => !isChosen(one)))
    } finally {
      setReading(false)
    }
  }

  function remove(gone: readonly ChosenFile[]) {
    setFiles((before) => before.filter((file) => !gone.includes(file)))
  }

  return { files, refused, isReading, add, remove }
}
