/** One thing that was looked at, and what to do where it is not as it should be. */
export type Finding = {
  check: string
  state: 'ok' | 'warning' | 'problem'
  text: string
  advice?: string
}
