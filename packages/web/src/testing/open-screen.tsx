import { openConnection } from '@shoal/protocol/client'
import { cleanup, configure, render } from '@testing-library/react'
import { type UserEvent, userEvent } from '@testing-library/user-event'
import { onTestFinished } from 'vitest'
import { pageClient } from '../api/page-client.ts'
import { newQueryClient } from '../api/query-client.ts'
import { noticeSignOut } from '../api/session.ts'
import { noteWait } from '../app/waiting.tsx'
import { App } from '../app.tsx'
import { changedPrefs, readPrefs } from '../prefs.ts'
import { newRouter } from '../router.tsx'
import type { ScriptedRegistry } from './scripted-registry.ts'

configure({ asyncUtilTimeout: 40_000 }) // as in vitest.config.ts
Object.assign(globalThis, { __VERSION__: '0.0.0' }) // the build inserts it
// Happy DOM has no popovers: their contents are always shown.
HTMLElement.prototype.hidePopover = () => undefined

export type Visitor = UserEvent

/** Opens a page of the registry at a path, and returns a visitor who can click and type. */
export async function openScreen(
  path: string,
  { transport }: Pick<ScriptedRegistry, 'transport'>,
  { maxWaits = 0, state = null as unknown } = {},
): Promise<Visitor> {
  cleanup() // in case the test has opened another screen
  changedPrefs.set({}) // as after loading a page; other test files in this process share the module
  history.replaceState(state, '', path)
  const queryClient = newQueryClient()
  const connection = openConnection({
    baseUrl: '',
    transport: noticeSignOut(transport, queryClient),
    maxWaits,
    onWait: noteWait,
  })
  queryClient.setDefaultOptions({ queries: { retry: false } })
  const router = newRouter({
    connection,
    client: pageClient(connection),
    queryClient,
    prefs: readPrefs(document.cookie),
    registryUrl: location.origin,
    registryLabel: 'registry.test',
    head: undefined,
  })
  onTestFinished(() => {
    cleanup()
    queryClient.clear()
    router.history.destroy()
    forgetVisitor()
  })
  await router.load()
  render(<App router={router} />)
  return userEvent.setup()
}

/** Deletes what the page has stored in the browser, because all tests of this process share it. */
function forgetVisitor() {
  localStorage.clear()
  sessionStorage.clear()
  for (const cookie of document.cookie.split('; ')) {
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in happy-dom
    document.cookie = `${cookie.split('=')[0]}=; Path=/; Max-Age=0`
  }
}
