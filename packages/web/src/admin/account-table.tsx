import { formatAge, formatBytes, plural } from '@shoal/core/units'
import type { AdminUser, Me } from '@shoal/protocol'
import { Link } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { Disclosure } from '../ui/disclosure.tsx'
import type { Dialog } from './dialogs/account-dialog.tsx'

type Open = (dialog: Dialog, user: AdminUser) => void
type Props = { users: readonly AdminUser[]; me: Me; onOpen: Open }

const columns = ['Role', 'Status', 'Stored', 'Models', 'API keys', 'Last used']
const roles = { admin: 'Administrator', user: 'User', system: 'System' }

/**
 * On narrow screens, the table has only two columns, and the other details of an account are shown below its username.
 */
export function AccountTable({ users, me, onOpen }: Props) {
  return (
    <table className="w-full border-line border-t text-left text-[15px] tabular-nums">
      <caption className="sr-only">Accounts</caption>
      <thead className="text-[14px] text-ink-3">
        <tr>
          <th scope="col" className="py-2.5 pr-5 font-medium">
            Account
          </th>
          {columns.map((column) => (
            <th key={column} scope="col" className="py-2.5 pr-5 font-medium max-lg:hidden">
              {column}
            </th>
          ))}
          <th scope="col">
            <span className="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {users.map((user) => (
          <AccountRow key={user.id} user={user} isSelf={user.id === me.id} onOpen={onOpen} />
        ))}
      </tbody>
    </table>
  )
}

type RowProps = { user: AdminUser; isSelf: boolean; onOpen: Open }

function AccountRow({ user, isSelf, onOpen }: RowProps) {
  const { username, email, role, disabled_at, last_used_at, usage } = user
  const status = disabled_at === null ? 'Active' : 'Disabled'
  const used = last_used_at === null ? 'never' : formatAge(last_used_at)
  const facts: [column: string, text: React.ReactNode][] = [
    ['role', roles[role]],
    ['status', <Status key="status" text={status} />],
    ['stored', <Stored key="stored" user={user} />],
    ['models', usage.models_count],
    ['keys', usage.api_keys_count],
    ['used', used],
  ]
  return (
    <tr className="border-line border-t align-top">
      <th scope="row" className="py-3 pr-5 font-normal">
        <Link
          to="/u/$username"
          params={{ username }}
          className="break-all font-medium hover:text-roe-ink"
        >
          {username}
        </Link>
        {isSelf && <span className="tag ml-2">you</span>}
        {email && <span className="block break-all text-[14px] text-ink-3">{email}</span>}
        <span className="mt-1 block text-[14px] text-ink-2 lg:hidden">
          {roles[role]} · <Status text={status} /> · <Stored user={user} /> ·{' '}
          {plural(usage.models_count, 'model')} · {plural(usage.api_keys_count, 'API key')} · last
          used: {used}
        </span>
      </th>
      {facts.map(([column, text]) => (
        <td key={column} className="py-3 pr-5 text-ink-2 max-lg:hidden">
          {text}
        </td>
      ))}
      <td className="w-10 py-1.5 text-right">
        {role !== 'system' && <Actions user={user} isSelf={isSelf} onOpen={onOpen} />}
      </td>
    </tr>
  )
}

const Status = ({ text }: { text: 'Active' | 'Disabled' }) => (
  <span className={text === 'Disabled' ? 'font-medium text-roe-ink' : ''}>{text}</span>
)

function Stored({ user: { usage, own_quota_bytes } }: { user: AdminUser }) {
  const { stored_bytes, quota_bytes } = usage
  if (quota_bytes === null) return formatBytes(stored_bytes)
  return (
    <>
      {formatBytes(stored_bytes)} of {formatBytes(quota_bytes)}
      {own_quota_bytes !== null && ' (own quota)'}
    </>
  )
}

function Actions({ user, isSelf, onOpen }: RowProps) {
  const { username, role, disabled_at } = user
  const items: [dialog: Dialog, text: string][] = [
    ['role', role === 'admin' ? 'Change to user …' : 'Change to administrator …'],
    ['quota', 'Quota …'],
    ['keys', 'API keys …'],
    ...(isSelf ? [] : [['password', 'Reset password …'] as [Dialog, string]]),
    ['status', disabled_at === null ? 'Disable …' : 'Enable …'],
    ['remove', 'Remove …'],
  ]
  return (
    <Disclosure
      label={`Actions for ${username}`}
      className="ctl-quiet"
      icon={<Ellipsis size={19} aria-hidden />}
    >
      {items.map(([dialog, text]) => (
        <button
          key={dialog}
          type="button"
          className="pop-item"
          onClick={() => onOpen(dialog, user)}
        >
          {text}
        </button>
      ))}
      {isSelf && (
        <Link to="/settings/{-$section}" className="pop-item">
          Change password
        </Link>
      )}
    </Disclosure>
  )
}
