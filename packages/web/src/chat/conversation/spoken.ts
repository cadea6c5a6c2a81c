import { type Answer, thoughtAndSaid } from './conversation.ts'

const shortEnough = 400

/** The screen reader announcement for a finished answer: short answers in full, long ones by length. */
export function spoken(answer: Answer): string {
  const { ending, fault } = answer
  if (fault) return `${fault.title}. ${fault.advice}`
  if (ending === 'stopped') return 'Stopped.'
  const { said } = thoughtAndSaid(answer)
  if (said.length <= shortEnough) return said
  return `Answer complete: ${said.split(/\s+/).length} words.`
}
