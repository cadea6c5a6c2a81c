/** Parsing and formatting of quantities, for the terminal and for web pages. */
export { formatContext, formatCount, plural, shortList } from './counts.ts'
export { parseDuration, parseKeepAlive } from './durations.ts'
export {
  formatBytes,
  formatMachine,
  formatMemory,
  mebibyte,
  parseSize,
  parseSpeed,
} from './sizes.ts'
export { formatAge, formatSeconds } from './times.ts'
