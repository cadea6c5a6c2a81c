import { useId } from 'react'

/** The role of a new account. */
export function RoleField() {
  const id = useId()
  return (
    <div>
      <label className="label" htmlFor={id}>
        Role
      </label>
      <select id={id} name="role" className="ctl" defaultValue="user">
        <option value="user">User</option>
        <option value="admin">Administrator</option>
      </select>
    </div>
  )
}
