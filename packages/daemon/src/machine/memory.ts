import os from 'node:os'

/** The memory in bytes that this process may use: the machine's memory, or its container's limit if that is lower. */
export function constrainedMemory(): number {
  const limit = process.constrainedMemory()
  const total = os.totalmem()
  return limit > 0 && limit < total ? limit : total
}

/** The memory in bytes that is free or can be freed at once, in the machine or in its container. */
export const freeMemory = (): number => Math.min(process.availableMemory(), constrainedMemory())
