/** Exits with an error about an invalid command line. */
export function misuse(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

/** Parses the value of an option as a positive integer. */
export function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) {
    misuse(`invalid ${option} "${text}": expected a whole number from 1 to 999999999`)
  }
  return Number(text)
}

/** Returns a seed for a run without `--seed`. */
export const anySeed = () => String(Math.floor(Date.now() / 1000) % 1_000_000)
