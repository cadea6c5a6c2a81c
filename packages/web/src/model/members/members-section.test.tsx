// @vitest-environment happy-dom
import type { Member } from '@shoal/protocol'
import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openScreen, type Visitor } from '../../testing/open-screen.tsx'
import { publicRegistry } from '../../testing/public-registry.ts'
import { makeMe, makeModelRecord } from '../../testing/samples.ts'
import { ok, problem } from '../../testing/scripted-registry.ts'

const path = '/v1/models/id-of-tide/members'
const created_at = '2026-03-01T09:00:00Z'

/** A registry whose model `tide` has these members. Additions, changes and removals are applied to the list. */
function sharedModel(...members: Member[]) {
  const registry = publicRegistry()
  registry.answer('GET /v1/models/tide/files', ok([]))
  registry.answer(`GET ${path}`, () => ({ status: 200, body: members }))
  for (const username of ['ben', 'cleo']) {
    registry.answer(`PUT ${path}/${username}`, ({ body }) => {
      const member = { username, created_at, ...(body as Pick<Member, 'right'>) }
      const before = members.findIndex((one) => one.username === username)
      members.splice(before === -1 ? members.length : before, 1, member)
      return { status: 200, body: member }
    })
    registry.answer(`DELETE ${path}/${username}`, () => {
      members.splice(
        members.findIndex((one) => one.username === username),
        1,
      )
      return { status: 204 }
    })
  }
  return { ...registry, members }
}

const openSection = async () => within(await screen.findByRole('region', { name: 'Members' }))

async function add(user: Visitor, username: string, right: string) {
  const form = within(screen.getByRole('form', { name: 'Add a member' }))
  const field = form.getByLabelText('Username')
  await user.clear(field)
  await user.type(field, username)
  await user.selectOptions(form.getByLabelText('Right'), right)
  await user.click(form.getByRole('button', { name: 'Add' }))
}

test('members are added, changed and removed by the owner', async () => {
  const registry = sharedModel()
  registry.answer(`PUT ${path}/nobody`, problem(404, 'no user nobody', { code: 'user_unknown' }))
  registry.answer(`PUT ${path}/ana`, problem(409, 'the account ana owns tide'))
  const user = await openScreen('/m/tide/edit', registry)
  const section = await openSection()
  await section.findByText('The model is not shared with anyone.')
  await add(user, 'nobody', 'read')
  await section.findByText('No user nobody.')
  await add(user, 'ana', 'read')
  await section.findByText('The account ana owns tide.')
  await add(user, ' Ben ', 'read')
  await section.findByText('ben can now read.')
  await add(user, 'cleo', 'write')
  await section.findByText('cleo can now write.')
  expect(registry.members).toMatchObject([
    { username: 'ben', right: 'read' },
    { username: 'cleo', right: 'write' },
  ])

  await user.selectOptions(await section.findByLabelText('Right of ben'), 'write')
  await section.findByText('ben can now write.')
  await user.click(section.getByRole('button', { name: 'Remove cleo' }))
  await user.click(screen.getByRole('button', { name: 'Remove member' }))
  await section.findByText('cleo is no longer a member.')
  expect(registry.members).toMatchObject([{ username: 'ben', right: 'write' }])
  expect(document.activeElement?.textContent).toBe('Members')
})

test('members show a placeholder while they load, and can be loaded again after an error', async () => {
  const registry = sharedModel({ username: 'ben', right: 'read', created_at })
  const asked = Promise.withResolvers<void>()
  registry.answer(`GET ${path}`, async () => {
    await asked.promise
    return problem(403, 'not now')()
  })
  const user = await openScreen('/m/tide/edit', registry)
  const section = await openSection()
  const busy = screen.getByRole('region', { name: 'Members' })
  await waitFor(() => expect(busy.querySelector('[aria-busy="true"]')).not.toBe(null))
  asked.resolve()
  await section.findByText('Not now.')
  registry.answer(`GET ${path}`, ok(registry.members))
  await user.click(section.getByRole('button', { name: 'Try again' }))
  await section.findByLabelText('Right of ben')
})

test('if a right cannot be changed, the page shows the previous right', async () => {
  const registry = sharedModel({ username: 'ben', right: 'read', created_at })
  registry.answer(`PUT ${path}/ben`, problem(409, 'the account is disabled'))
  const user = await openScreen('/m/tide/edit', registry)
  const section = await openSection()
  await user.selectOptions(await section.findByLabelText('Right of ben'), 'write')
  await section.findByText('The account is disabled.')
  expect(section.getByLabelText('Right of ben')).toHaveProperty('value', 'read')
})

test('members with the right to write cannot change the members, and can leave', async () => {
  const registry = sharedModel(
    { username: 'ben', right: 'write', created_at },
    { username: 'cleo', right: 'read', created_at },
  )
  registry.answer('GET /v1/auth/me', ok(makeMe('ben')))
  const user = await openScreen('/m/tide/edit', registry)
  const section = await openSection()
  section.getByText(/Only ana and administrators can add or remove members\.$/)
  await section.findByText('Can write')
  expect(screen.queryByRole('form', { name: 'Add a member' })).toBe(null)
  expect(section.queryByRole('combobox')).toBe(null)
  expect(section.queryByRole('button', { name: /^Remove/ })).toBe(null)
  await user.click(section.getByRole('button', { name: 'Leave' }))
  await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Leave' }))
  await waitFor(() => expect(location.pathname).toBe('/'))
  expect(registry.members.map(({ username }) => username)).toEqual(['cleo'])
})

test('a model cannot be edited with the right to read', async () => {
  const registry = sharedModel({ username: 'cleo', right: 'read', created_at })
  registry.answer('GET /v1/auth/me', ok(makeMe('cleo')))
  registry.answer('GET /v1/models/tide', ok(makeModelRecord('tide', { can_write: false })))
  await openScreen('/m/tide/edit', registry)
  await screen.findByText('You can’t edit this model')
  await openScreen('/m/tide', registry)
  await screen.findByText('Results')
  expect(screen.queryByRole('link', { name: 'Edit' })).toBe(null)
})
