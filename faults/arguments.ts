import { misuse } from '../testing/tool-arguments.ts'

export { misuse }

/** Parses the value of an option as a positive integer. */
export function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) {
    misuse(`invalid ${option} "${text}": expected a whole number from 1 to 999999999`)
  }
  return Number(text)
}

/** Returns a seed for a run without `--seed`. */
export const anySeed = () => String(Math.floor(Date.now() / 1000) % 1_000_000)
