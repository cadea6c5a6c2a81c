/** The result of one check, and what to do about a problem. */
export type Finding = {
  check: string
  state: 'ok' | 'warning' | 'problem'
  text: string
  advice?: string
}
