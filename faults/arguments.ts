/** Ends the program for a command line that cannot be meant. */
export function misuse(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

/** The value of an option that counts. */
export function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) {
    misuse(`${option} is a whole number from 1, not "${text}"`)
  }
  return Number(text)
}

/** A seed that nobody asked for. */
export const anySeed = () => String(Math.floor(Date.now() / 1000) % 1_000_000)
