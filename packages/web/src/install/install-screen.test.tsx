// @vitest-environment happy-dom
import type { Releases } from '@shoal/protocol/client'
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openScreen } from '../testing/open-screen.tsx'
import { ok, problem, scriptedRegistry } from '../testing/scripted-registry.ts'

const none: Releases = {
  releases: [],
  status: 'no_release',
  script_sha256: null,
  key_sha256s: [],
}
const open = (releases: Releases) =>
  openScreen(
    '/install',
    scriptedRegistry({
      'GET /v1/auth/me': problem(401, 'sign in'),
      'GET /v1/releases': ok(releases),
    }),
  )

test('each command can be copied, and each file has a link and a checksum', async () => {
  const file = { filename: 'shoal-1.0.0-linux-x64.tar.gz', size_bytes: 1e8, sha256: 'a'.repeat(64) }
  await open({
    releases: [{ version: '1.0.0', platform: 'linux-x64', files: [file] }],
    status: 'offered',
    script_sha256: 'b'.repeat(64),
    key_sha256s: ['c'.repeat(64)],
  })
  const buttons = await screen.findAllByRole('button', { name: /^Copy/ })
  expect(buttons.map((button) => button.previousSibling?.textContent)).toEqual([
    `curl -fsSo shoal-install.sh '${location.origin}/install'`,
    `echo '${'b'.repeat(64)}  shoal-install.sh' | sha256sum --check`,
    'sh shoal-install.sh',
    'c'.repeat(64),
  ])
  const link = screen.getByRole('link', { name: file.filename })
  expect(link.getAttribute('href')).toBe(`/install/linux-x64/${file.filename}`)
  expect(screen.getByText(file.sha256)).toBeTruthy()
  expect(screen.getByText('This registry uses HTTP.')).toBeTruthy()
})

test('without a release, the page says what the operator and the visitor can do', async () => {
  await open(none)
  expect(await screen.findAllByRole('button', { name: 'Copy the command' })).toHaveLength(2)
  expect(screen.getByText('See all models').getAttribute('href')).toBe('/')
  await open({ ...none, status: 'loopback_base_url' })
  expect(await screen.findByText('SHOAL_BASE_URL')).toBeTruthy()
  await open({ ...none, status: 'packing' })
  expect(await screen.findByText(/Reload this page in a minute/)).toBeTruthy()
})
