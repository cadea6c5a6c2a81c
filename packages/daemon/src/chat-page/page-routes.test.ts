import { findChatSite } from '@shoal/web'
import { describe, expect, test } from 'vitest'
import { useTestDaemon } from '../testing/test-daemon.ts'

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test("programs that request the front page get Ollama's response", async () => {
  const { url } = await useTestDaemon()
  const answer = await fetch(url)
  expect(answer.headers.get('content-type')).toMatch('text/plain')
  expect(await answer.text()).toBe('Ollama is running')
})

describe.skipIf(!findChatSite())('if the pages have been built', () => {
  test('browsers get the chat page, which is not allowed to load anything from other hosts', async () => {
    const { url } = await useTestDaemon()
    const answer = await fetch(url, { headers: browser })
    expect(await answer.text()).toMatch(/<title>Chat/)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringContaining(
        "default-src 'self'; object-src 'none'; base-uri 'none'",
      ),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, no-cache',
      vary: 'Origin, Accept, Cookie',
    })
    expect(answer.headers.get('content-security-policy')).toMatch("frame-ancestors 'none'")
  })

  test('the page has the chosen theme', async () => {
    const { url } = await useTestDaemon()
    const themeFor = async (cookie: string) => {
      const answer = await fetch(url, { headers: { ...browser, cookie } })
      return /<html[^>]*data-theme="(\w+)"/.exec(await answer.text())?.[1]
    }
    expect(await themeFor('a=b; theme=dark')).toBe('dark')
    expect(await themeFor('theme="><script>')).toBeUndefined()
    expect(await themeFor('')).toBeUndefined()
  })

  test('the page names the registry from which the daemon pulls, for commands', async () => {
    const registry = { address: 'https://models.example.org', token: undefined }
    const { url } = await useTestDaemon({ registry })
    const page = await (await fetch(url, { headers: browser })).text()
    expect(page).toContain('<html data-registry="models.example.org"')
  })

  test('the assets of the page are compressed and cached for a year', async () => {
    const { url } = await useTestDaemon()
    const page = await (await fetch(url, { headers: browser })).text()
    const [script] = /\/assets\/[\w-]+\.js/.exec(page) ?? []
    const answer = await fetch(url + script, { headers: { 'accept-encoding': 'br' } })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': expect.stringContaining('javascript'),
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
    const icon = await fetch(`${url}/favicon.svg`)
    expect(icon.headers.get('content-type')).toBe('image/svg+xml')
  })

  test('only the page and its assets can be fetched', async () => {
    const { url } = await useTestDaemon()
    for (const path of ['/assets/', '/assets/../index.html', '/assets/%2e%2e/chat.html', '/x']) {
      expect((await fetch(url + path, { headers: browser })).status).toBe(404)
    }
  })

  test('a daemon that has a key serves only its page without the key', async () => {
    const { url } = await useTestDaemon({ apiKey: 'secret' })
    expect((await fetch(url, { headers: browser })).status).toBe(200)
    expect((await fetch(`${url}/favicon.svg`)).status).toBe(200)
    expect((await fetch(`${url}/api/tags`)).status).toBe(401)
    expect((await fetch(`${url}/v1/models`)).status).toBe(401)
    expect((await fetch(`${url}/nowhere`)).status).toBe(401)
  })

  test('requests for the page with other hostnames or origins are rejected', async () => {
    const { url } = await useTestDaemon()
    const headers = { ...browser, origin: 'https://evil.example' }
    expect((await fetch(url, { headers })).status).toBe(403)
    expect((await fetch(`${url}/favicon.svg`, { headers })).status).toBe(403)
  })
})
