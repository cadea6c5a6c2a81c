import { type Answer, thoughtAndSaid } from './conversation.ts'

const shortEnough = 400

/** What a screen reader says once an answer has ended: short ones in full, of long ones that they are there. */
export function spoken(answer: Answer): string {
  const { ending, fault } = answer
  if (fault) return `${fault.title}. ${fault.advice}`
  if (ending === 'stopped') return 'Stopped.'
  const { said } = thoughtAndSaid(answer)
  if (said.length <= shortEnough) return said
  return `Answer complete: ${said.split(/\s+/).length} words.`
}
