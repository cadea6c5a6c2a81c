/**
 * A program found instead of the user's daemon. It receives no prompt and no key, unless the user specifies it with
 * `--inference`.
 */

import { toSentence } from '../terminal/terminal-text.ts'
import { holderName, type PortHolder } from './port-holder.ts'

export type Stranger = {
  /** Such as `localhost:11434`. */
  label: string
  /** `earlier`: a daemon in our own state folder, of a version that cannot prove that it wrote `daemon.json`. */
  kind: PortHolder | 'earlier'
}

/** Returns sentences that tell the user what the program is, and what to do. */
export function describeStranger({ label, kind }: Stranger): { text: string; advice: string } {
  if (kind === 'earlier') {
    return {
      text: `The daemon at ${label} is an earlier version and cannot prove that it is yours.`,
      advice: 'To restart it: shoal stop, then shoal serve.',
    }
  }
  const own = 'To start your own: shoal serve --port <number>'
  return {
    text: toSentence(`${holderName[kind]} answers at ${label}`),
    advice: kind === 'daemon' ? `To use it, pass --inference ${label}. ${own}` : own,
  }
}
