import { formatBytes } from '@shoal/core/units'
import type { AuditEntry } from '@shoal/protocol'

/** Phrases for the actions. On the page, each phrase is followed by the entry's subject, such as a username. */
export const actionPhrases: Record<AuditEntry['action'], string> = {
  'account.created': 'created the account',
  'account.signed_in': 'signed in to the account',
  'account.signed_out': 'signed out of the account',
  'account.session_ended': 'ended a session of',
  'account.password_changed': 'changed the password of',
  'account.password_reset': 'reset the password of',
  'account.disabled': 'disabled the account',
  'account.enabled': 'enabled the account',
  'account.role_changed': 'changed the role of',
  'account.quota_changed': 'changed the quota of',
  'account.removed': 'removed the account',
  'key.created': 'created an API key for',
  'key.revoked': 'revoked an API key of',
  'invitation.created': 'created the invitation',
  'invitation.revoked': 'revoked the invitation',
  'model.renamed': 'renamed the model',
  'model.visibility_changed': 'changed the visibility of the model',
  'model.owner_changed': 'changed the owner of the model',
  'model.member_set': 'shared the model',
  'model.member_removed': 'removed a member from the model',
  'model.deleted': 'deleted the model',
  'file.deleted': 'deleted the file',
  'registry.garbage_collected': 'removed unused data from the',
  'registry.release_added': 'added a release of shoal to the',
  'registry.trash_emptied': 'emptied the trash of the',
  'registry.trash_restored': 'restored objects from the trash of the',
}

export const actions = Object.keys(actionPhrases) as AuditEntry['action'][]

/** Formats the details of an entry: `role: admin`, `from: none, to: 5.00 GB`. */
export const formatDetail = (detail: AuditEntry['detail']): string =>
  Object.entries(detail)
    .map(
      ([name, value]) =>
        `${name.replace(/_bytes$/, '').replaceAll('_', ' ')}: ${formatValue(name, value)}`,
    )
    .join(', ')

function formatValue(name: string, value: unknown): string {
  if (value === null) return 'none'
  if (name.endsWith('_bytes') && typeof value === 'number') return formatBytes(value)
  if (Array.isArray(value)) return value.map(String).join(' ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
