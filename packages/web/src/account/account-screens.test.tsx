// @vitest-environment happy-dom
import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openScreen, type Visitor } from '../testing/open-screen.tsx'
import { publicRegistry } from '../testing/public-registry.ts'
import { makeMe } from '../testing/samples.ts'
import { ok, problem } from '../testing/scripted-registry.ts'

const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label)
const path = (pathname: string) => waitFor(() => expect(location.pathname).toBe(pathname))
const signedIn = ok({ access_token: 't', token_type: 'bearer', expires_at: '', user: {} })

async function signIn(user: Visitor, password: string) {
  await user.clear(field('Password'))
  await user.type(field('Password'), `${password}{Enter}`)
}

/** A registry without a session until `login` or `register` succeeds. */
function closedRegistry(call: string, username: string) {
  const registry = publicRegistry({ isAnonymous: true })
  return {
    ...registry,
    accept: () =>
      registry.answer(call, () => {
        registry.answer('GET /v1/auth/me', ok(makeMe(username)))
        return { ...signedIn() }
      }),
  }
}

const login = 'POST /v1/auth/login'
const register = 'POST /v1/auth/register'

test('signing in shows an error next to the form, and then returns to the page', async () => {
  const registry = closedRegistry(login, 'ana')
  registry.answer(login, problem(401, 'wrong username or password'))
  const user = await openScreen('/login?next=/settings/keys', registry)
  await user.type(await screen.findByLabelText('Username'), 'ana')
  await signIn(user, 'wrong')
  await screen.findByText('Wrong username or password.')
  expect(document.activeElement).toBe(field('Username'))
  registry.accept()
  await signIn(user, 'password of ana')
  await screen.findByRole('button', { name: 'New key' })
  await path('/settings/keys')
  expect(registry.bodies(login)).toEqual([
    { username: 'ana', password: 'wrong' },
    { username: 'ana', password: 'password of ana' },
  ])
})

test('signing in where the cookie cannot work is answered with the base URL', async () => {
  const registry = publicRegistry({ isAnonymous: true })
  registry.answer(login, signedIn)
  document.documentElement.dataset.baseUrl = 'http://models.example.org'
  const user = await openScreen('/login', registry)
  await user.type(await screen.findByLabelText('Username'), 'ana')
  await signIn(user, 'password of ana')
  await screen.findByText(/Open http:\/\/models\.example\.org, the registry’s base URL/)
  delete document.documentElement.dataset.baseUrl
})

test('a page of another site is never opened after signing in', async () => {
  const registry = closedRegistry(login, 'ana')
  registry.accept()
  const user = await openScreen('/login?next=//evil.example/', registry)
  await user.type(await screen.findByLabelText('Username'), 'ana')
  await signIn(user, 'password of ana')
  await path('/')
})

test('an account is created; a taken username and other errors are marked', async () => {
  const registry = closedRegistry(register, 'ben')
  registry.answer(register, problem(409, 'taken'))
  const user = await openScreen('/register', registry)
  await user.type(await screen.findByLabelText('Username'), 'ben')
  await signIn(user, 'password of ben')
  await screen.findByText('That username is not available.')
  expect(document.activeElement).toBe(field('Username'))
  const errors = [{ path: '/email', message: 'is not an email address' }]
  registry.answer(register, problem(422, 'invalid', { errors }))
  await user.type(field('Email (optional)'), 'ben@example{Enter}')
  await screen.findByText('Is not an email address.')
  expect(document.activeElement).toBe(field('Email (optional)'))
  registry.answer(register, problem(403, 'registration is closed'))
  await user.click(screen.getByRole('button', { name: 'Create account' }))
  await screen.findByText('Registration is closed.')
  registry.accept()
  await user.clear(field('Email (optional)'))
  await user.click(screen.getByRole('button', { name: 'Create account' }))
  await screen.findByRole('button', { name: 'Signed in as ben' })
  expect(location.pathname).toBe('/')
  expect(registry.bodies(register).at(-1)).toEqual({
    username: 'ben',
    password: 'password of ben',
  })
})

test('if registration is closed, the pages ask for an invitation, and with one, the form is shown', async () => {
  const registry = publicRegistry({ isAnonymous: true })
  registry.answer('GET /v1/registry', ok({ registration_open: false }))
  await openScreen('/login', registry)
  await screen.findByText(/Ask an administrator of this registry for an invitation\./)
  expect(screen.queryByRole('link', { name: 'Register' })).toBe(null)
  await openScreen('/register', registry)
  await screen.findByText(/^Registration on this registry is closed\./)
  expect(screen.queryByLabelText('Username')).toBe(null)
  await openScreen('/register#invitation=shi_1', registry)
  await screen.findByLabelText('Username')
})

test('on a members-only registry, the list of models leads to the sign-in page', async () => {
  const registry = publicRegistry({ isAnonymous: true })
  registry.answer('GET /v1/models', problem(401, 'this registry is for members only'))
  await openScreen('/?q=tide', registry)
  const problemShown = within(await screen.findByRole('alert'))
  problemShown.getByText('Sign in to continue')
  const link = problemShown.getByRole('link', { name: 'Sign in' })
  expect(link.getAttribute('href')).toBe('/login?next=%2F%3Fq%3Dtide')
  expect(problemShown.queryByRole('button')).toBe(null)
})

test('the first account needs the setup code that the registry printed', async () => {
  const registry = closedRegistry(register, 'ana')
  const detail = { code: 'setup_code_required' }
  registry.answer(register, problem(403, 'enter the setup code', detail))
  const user = await openScreen('/register', registry)
  await user.type(await screen.findByLabelText('Username'), 'ana')
  await signIn(user, 'password of ana')
  await user.type(await screen.findByLabelText('Setup code'), '1234')
  expect(field('Setup code').getAttribute('aria-invalid')).toBe('true')
  expect(screen.getAllByText('Enter the setup code.')).toHaveLength(1)
  registry.accept()
  await user.click(screen.getByRole('button', { name: 'Create account' }))
  await screen.findByRole('button', { name: 'Signed in as ana' })
  expect(registry.bodies(register).at(-1)).toMatchObject({ setup_code: '1234' })
})

test('an invitation is moved out of the address, survives a reload, and is sent', async () => {
  const registry = closedRegistry(register, 'ben')
  await openScreen('/register#invitation=shi_1', registry)
  await screen.findByText(/^You have been invited to this registry\./)
  await waitFor(() => expect(location.hash).toBe(''))
  const { state } = history
  await openScreen('/register', registry, { state })
  await screen.findByText(/^You have been invited to this registry\./)
})

test('an invitation that is no longer valid is reported, and can be left behind', async () => {
  const registry = closedRegistry(register, 'cleo')
  const user = await openScreen('/register#invitation=shi_1', registry)
  await user.type(await screen.findByLabelText('Username'), 'cleo')
  const tooLong = [{ path: '/invitation', message: 'is too long' }]
  for (const refusal of [
    problem(403, 'the invitation is not valid', { code: 'invitation_invalid' }),
    problem(422, 'invalid', { errors: tooLong }),
  ]) {
    registry.answer(register, refusal)
    await signIn(user, 'password of cleo')
    await screen.findByText(/^This invitation is not valid: it has been used or revoked/)
    expect(field('Username').value).toBe('cleo')
  }
  expect(registry.bodies(register)[0]).toMatchObject({ invitation: 'shi_1' })
  await user.click(screen.getByRole('link', { name: 'register without an invitation' }))
  await waitFor(() => expect(screen.queryByText(/^You have been invited/)).toBe(null))
  registry.answer(register, problem(403, 'registration is closed'))
  await signIn(user, 'password of cleo')
  await screen.findByText('Registration is closed.')
  expect(registry.bodies(register).at(-1)).not.toHaveProperty('invitation')
})
