/**
 * Maximum number of bytes that are passed to a socket at a time, and therefore the most memory that a stalled reader
 * can occupy.
 */
export const sliceBytes = 64 * 1024
/** Maximum number of bytes that a transfer may hold. More bytes would not make a transfer faster. */
const maxTransferBytes = 2 * 1024 * 1024
/** Every transfer may hold at least this many bytes, however many transfers there are. */
const minTransferBytes = 4 * 1024
/** Maximum number of free slices kept for reuse; others are returned to the system. */
const maxFreeSlices = 64
const defaultBudgetBytes = 128 * 1024 * 1024

/** The memory for parts of model files that are being received or sent, shared by all transfers of the process. */
export type ByteBudget = {
  /** Registers a transfer, which counts as active until `leave` is called on the returned share. */
  join(): BudgetShare
  /** Returns the number of bytes that transfers currently hold. */
  usedBytes(): number
  transfers(): number
}

/** One transfer's share of the budget. */
export type BudgetShare = {
  /**
   * Returns the number of bytes that the transfer may hold now. The number decreases as more transfers join, but is at
   * least 4 KiB.
   */
  maxBytes(): number
  /**
   * Returns buffers of at most 64 KiB each, with this many bytes in total. They count as held until they are returned
   * with `give`.
   */
  take(bytes: number): Buffer[]
  give(slices: Buffer[]): void
  /** Sets how many bytes the transfer holds in its own buffers. */
  hold(bytes: number): void
  /** Ends the share. Buffers that have not been returned no longer count as held. */
  leave(): void
}

export function byteBudget(budgetBytes = defaultBudgetBytes): ByteBudget {
  const free: Buffer[] = []
  let used = 0
  let transfers = 0

  /** Full-size slices are reused, because allocating them for each read would take as long as the read itself. */
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
