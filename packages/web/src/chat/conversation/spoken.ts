import { type Answer, thoughtAndSaid } from './conversation.ts'

const shortEnough = 400

/**
 * Returns the announcement for screen readers when an answer has ended: the failure, if there was one; “Stopped.” if
 * the user stopped it; the full text of a short answer; or the number of words in a long one.
 */
export function spoken(answer: Answer): string {
  const { ending, fault } = answer
  if (fault) return `${fault.title}. ${fault.advice}`
  if (ending === 'stopped') return 'Stopped.'
  const { said } = thoughtAndSaid(answer)
  if (said.length <= shortEnough) return said
  const state = ending === 'cut' ? 'cut off' : 'complete'
  return `Answer ${state}: ${said.split(/\s+/).length} words.`
}
