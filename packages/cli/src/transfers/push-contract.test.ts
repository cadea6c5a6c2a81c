/** Tests the push engine in Node and in a browser, with a real registry whose connections break. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { registryClient } from '@shoal/protocol/client'
import { pushFile } from '@shoal/transfer'
import { openFaultyProxy } from '@shoal/transfer/testing/faulty-proxy'
import { pushContract } from '@shoal/transfer/testing/push-contract'
import { afterAll, describe, inject } from 'vitest'
import { openPage, type Page, startBrowser } from '../../../../testing/browser.ts'
import { realRegistry } from '../testing/real-registry.ts'

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

async function openRegistry() {
  const proxy = stack.use(await openFaultyProxy())
  const registry = stack.use(await realRegistry({ baseUrl: proxy.url }))
  proxy.leadTo(registry.port)
  const { token, port, dataDirectory } = registry
  const client = registryClient({ baseUrl: `http://127.0.0.1:${port}`, token })
  const uploads = () => readdir(join(dataDirectory, 'store', 'uploads'))
  return { proxy, client, token, uploads }
}

pushContract('Node', async () => {
  const { proxy, client, token, uploads } = await openRegistry()
  return {
    proxy,
    client,
    leftovers: uploads,
    async push(modelName, path) {
      await client.createModel({ name: modelName })
      await pushFile({ client: registryClient({ baseUrl: proxy.url, token }), modelName, path })
    },
  }
})

pushContract('Node, sending while hashing', async () => {
  const { proxy, client, token, uploads } = await openRegistry()
  return {
    proxy,
    client,
    leftovers: uploads,
    async push(modelName, path) {
      await client.createModel({ name: modelName })
      const pushing = registryClient({ baseUrl: proxy.url, token })
      await pushFile({ client: pushing, modelName, path, minBytesWhileHashing: 0 })
    },
  }
}, ['POST uploads', 'POST chunks'])

const chromium = inject('chromium')

describe.skipIf(!chromium)('with Chromium', () => {
  pushContract('browser', async () => {
    const { proxy, client, uploads } = await openRegistry()
    const { url: origin } = proxy
    const browser = stack.use(await startBrowser(chromium ?? '', [origin]))
    const { context, page } = stack.use(await browser.newVisitor())
    const data = { username: 'ana', password: 'password of ana' }
    await context.request.post(`${origin}/v1/auth/register`, { headers: { origin }, data })
    return {
      proxy,
      client,
      leftovers: async () => [...(await uploads()), ...(await readJobs(page))],
      async push(modelName, path) {
        await openPage(page, `${origin}/publish`)
        await page.locator('input[type=file]').setInputFiles(path)
        await page.getByLabel('Details read from the files').waitFor() // by now, the page has suggested a name
        await page.getByLabel('Name', { exact: true }).fill(modelName)
        await page.getByText('Available. Pull command').waitFor()
        await page.getByRole('button', { name: 'Publish', exact: true }).click()
        await page.getByRole('heading', { name: /is published$/ }).waitFor()
      },
    }
  })
})

/** The names of the models whose uploads the page offers to resume. */
const readJobs = (page: Page) =>
  page.evaluate<string[]>(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('shoal-publish', 1)
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const jobs = opening.result.transaction('jobs').objectStore('jobs').getAll()
      jobs.onerror = () => reject(jobs.error)
      jobs.onsuccess = () => {
        opening.result.close()
        resolve(jobs.result.map(({ modelName }) => modelName))
      }
    }
  })`)
