/** What a file needs in memory: a rule of thumb for a context of 8K tokens. */
const growth = 1.12
const fixedBytes = 0.7e9

export const memoryNeeded = (weightBytes: number): number => weightBytes * growth + fixedBytes

/** The largest file that runs in so much memory. */
export const largestFileFor = (memoryBytes: number): number =>
  Math.max(0, Math.floor((memoryBytes - fixedBytes) / growth))

/** F32, F16 and BF16 are originals: good to make other files from, seldom the one to run. */
export const isOverEightBits = (label: string): boolean =>
  /(^|[-._])(BF16|F16|F32|F64)($|[-._])/i.test(label)

type Weighed = { label: string; sizeBytes: number }

/** The largest file of up to 8 bits a weight that fits; an original only where there is nothing else. */
export function findBestFit<T extends Weighed>(
  choices: readonly T[],
  memoryBytes: number,
): T | undefined {
  const reduced = choices.filter(({ label }) => !isOverEightBits(label))
  return (reduced.length > 0 ? reduced : choices)
    .filter(({ sizeBytes }) => memoryNeeded(sizeBytes) <= memoryBytes)
    .reduce<T | undefined>(
      (best, one) => (best && best.sizeBytes >= one.sizeBytes ? best : one),
      undefined,
    )
}
