import { expect, test } from 'vitest'
import { nanoPath } from '../testing/local-files.ts'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

function eventsIn(stderr: string): object[] {
  return stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Returns the names of all members, at any depth. */
function listMembers(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listMembers)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [key, ...listMembers(member)])
}

test('the events of push, pull and verify have only snake_case members', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  const options = {
    home: home.path,
    registry: registry.url,
    env: { SHOAL_TOKEN: registry.token },
  }
  for (const words of [
    ['push', nanoPath, '--name', 'nano'],
    ['pull', 'nano', '--no-peers'],
    ['verify', 'nano'],
  ]) {
    const { stderr, exitCode } = await shoalHere([...words, '--progress=json'], options)
    expect(exitCode, stderr).toBe(0)
    const members = listMembers(eventsIn(stderr))
    expect(members).toContain('bytes_done')
    if (words[0] === 'pull') expect(members).toContain('is_peer')
    expect(members.filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name))).toEqual([])
  }
})
