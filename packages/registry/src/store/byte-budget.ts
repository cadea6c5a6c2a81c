/** What a socket gets at a time, and so the most that a reader who has stopped keeps of ours. */
export const sliceBytes = 64 * 1024
/** A transfer is no faster with more. */
const maxTransferBytes = 2 * 1024 * 1024
/** A transfer may always hold this much, however many there are. */
const minTransferBytes = 4 * 1024
/** Free slices that are kept for the next transfer; the others go back to the system. */
const maxFreeSlices = 64
const defaultBudgetBytes = 128 * 1024 * 1024

/** Memory for bytes of model files on their way in or out, shared by all transfers of the process. */
export type ByteBudget = {
  /** Counts a transfer in, until it leaves. */
  join(): BudgetShare
  /** Bytes that transfers hold now. */
  usedBytes(): number
  transfers(): number
}

/** The part of the budget that one transfer may use. */
export type BudgetShare = {
  /** Bytes that it may hold now: the more transfers there are, the less each may. At least 4 KiB. */
  maxBytes(): number
  /** Buffers for so many bytes, each of 64 KiB at most. They count until they are given back. */
  take(bytes: number): Buffer[]
  give(slices: Buffer[]): void
  /** How many bytes it holds in buffers of its own. */
  hold(bytes: number): void
  /** Ends the share. What was taken and not given back no longer counts. */
  leave(): void
}

export function byteBudget(budgetBytes = defaultBudgetBytes): ByteBudget {
  const free: Buffer[] = []
  let used = 0
  let transfers = 0

  /** Whole slices are used again: new ones for each read would cost as much as the read. */
  const newSlice = (size: number) =>
    (size === sliceBytes && free.pop()) || Buffer.allocUnsafeSlow(size)

  function join(): BudgetShare {
    let taken = 0
    let held = 0
    let hasLeft = false
    transfers += 1

    function count(newTaken: number, newHeld: number) {
      if (hasLeft) return
      used += newTaken + newHeld - taken - held
      taken = newTaken
      held = newHeld
    }

    return {
      maxBytes() {
        const left = budgetBytes - used + taken + held
        const limit = Math.min(maxTransferBytes, budgetBytes / transfers, left)
        return Math.max(minTransferBytes, Math.floor(limit / minTransferBytes) * minTransferBytes)
      },
      take(bytes) {
        count(taken + bytes, held)
        return Array.from({ length: Math.ceil(bytes / sliceBytes) }, (_, at) =>
          newSlice(Math.min(sliceBytes, bytes - at * sliceBytes)),
        )
      },
      give(slices) {
        for (const slice of slices) {
          count(taken - slice.byteLength, held)
          if (slice.byteLength === sliceBytes && free.length < maxFreeSlices) free.push(slice)
        }
      },
      hold: (bytes) => count(taken, bytes),
      leave() {
        count(0, 0)
        if (!hasLeft) transfers -= 1
        hasLeft = true
      },
    }
  }

  return { join, usedBytes: () => used, transfers: () => transfers }
}
