/**
 * A program found instead of the user's daemon. It receives no prompts and no keys, unless the user specifies its
 * address with `--inference`.
 */

import { toSentence } from '../terminal/terminal-text.ts'
import { holderName, type PortHolder } from './port-holder.ts'

export type Stranger = {
  /** The program's host and port, such as `localhost:11434`. */
  label: string
  /**
   * `earlier`: according to `daemon.json`, this is the user's daemon, but its version is too old to prove its identity.
   */
  kind: PortHolder | 'earlier'
}

/** Returns a sentence about the program, and advice for the user. */
export function describeStranger({ label, kind }: Stranger): { text: string; advice: string } {
  if (kind === 'earlier') {
    return {
      text: `The daemon at ${label} is from an earlier version and cannot prove that it is yours.`,
      advice: 'To restart that daemon: shoal stop, then shoal serve.',
    }
  }
  const own = 'To start your own daemon: shoal serve --port <number>'
  return {
    text: toSentence(`${holderName[kind]} responds at ${label}`),
    advice: kind === 'daemon' ? `To use that daemon, pass --inference ${label}. ${own}` : own,
  }
}
