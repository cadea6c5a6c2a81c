import type { ModelChanges, NewModel } from '@shoal/protocol'
import type { CardDetails } from './card-details.ts'

/** Fields that are filled in from the card's front matter if the model's owner has left them empty. */
const cardFields = ['license', 'tags'] as const
type CardField = (typeof cardFields)[number]

/** The values of the fields, and the fields whose values are taken from the card. */
export type Filled = CardDetails & { fromCard: CardField[] }

type Stored = CardDetails & { fromCard: readonly string[] }
type Written = Pick<NewModel | ModelChanges, 'license' | 'tags'>

/**
 * Returns the fields after these changes. Fields that are empty, and fields whose values were taken from the card, get
 * the card's values. A value that the owner has set is kept. A value from the card that is sent back unchanged, as
 * forms do, still counts as taken from the card.
 */
export function fillFromCard(stored: Stored, changes: Written, card: CardDetails): Filled {
  const isOwn = {
    license: isOwners(stored, 'license', changes.license),
    tags: isOwners(stored, 'tags', changes.tags),
  }
  const fromCard = cardFields.filter((field) => !isOwn[field] && !isEmpty(card[field]))
  return {
    license: isOwn.license ? (changes.license ?? stored.license) : card.license,
    tags: isOwn.tags ? (changes.tags ?? stored.tags) : card.tags,
    fromCard,
  }
}

type Value = string | readonly string[] | null | undefined

function isOwners(stored: Stored, field: CardField, changed: Value): boolean {
  const isFromCard = stored.fromCard.includes(field)
  if (changed === undefined) return !isFromCard && !isEmpty(stored[field])
  if (isEmpty(changed)) return false
  return !isFromCard || JSON.stringify(changed) !== JSON.stringify(stored[field])
}

const isEmpty = (value: Value): boolean =>
  value === null || value === undefined || value.length === 0
