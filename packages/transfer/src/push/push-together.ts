import { chunkCount } from '@shoal/model-file/browser'

/** Files being processed take no connections, but each of them is polled. */
const filesPerConnection = 2

type Together<File, Result> = {
  /** Maximum number of chunks sent in parallel, for all files together. */
  connections: number
  /** Pushes one file. `onSent` must be called when the registry has all of its bytes. */
  push(file: File, onSent: () => void): Promise<Result>
}

/**
 * Pushes several files at the same time, because the push of a small file consists mostly of waiting for the registry.
 * Each file takes a connection for each of its chunks, up to `connections`, until its bytes are sent. Starts the files
 * in the given order, and returns their results in this order. If the push of a file fails, starts no more files, and
 * rejects with its error once the pushes of all other files have ended.
 * @example
 * import { pushTogether } from '@shoal/transfer/push'
 *
 * const files = [{ name: 'tide-1', sizeBytes: 5_000 }, { name: 'tide-2', sizeBytes: 5_000 }]
 * const names = await pushTogether(files, { connections: 4, push: async ({ name }) => name })
 * console.log(names) // [ 'tide-1', 'tide-2' ]
 */
export async function pushTogether<File extends { sizeBytes: number }, Result>(
  files: readonly File[],
  { connections, push }: Together<File, Result>,
): Promise<Result[]> {
  const take = weightedSlots(connections)
  const queue = files.entries()
  const results: Result[] = []
  const errors: unknown[] = []

  async function pushNext(): Promise<void> {
    for (const [index, file] of queue) {
      const release = await take(Math.min(connections, chunkCount(file.sizeBytes)))
      try {
        if (errors.length === 0) results[index] = await push(file, release)
      } catch (error) {
        errors.push(error)
      } finally {
        release()
      }
    }
  }

  await Promise.all(Array.from({ length: connections * filesPerConnection }, pushNext))
  if (errors.length > 0) throw errors[0]
  return results
}

/** Returns a function that waits for `weight` slots, in the order of the calls, and returns a function that frees them. */
function weightedSlots(count: number) {
  let free = count
  const waiting: { weight: number; start: () => void }[] = []

  function startWaiting() {
    for (let [first] = waiting; first && first.weight <= free; [first] = waiting) {
      waiting.shift()
      free -= first.weight
      first.start()
    }
  }

  return async (weight: number) => {
    await new Promise<void>((start) => {
      waiting.push({ weight, start })
      startWaiting()
    })
    let isHeld = true
    return () => {
      if (isHeld) free += weight
      isHeld = false
      startWaiting()
    }
  }
}
