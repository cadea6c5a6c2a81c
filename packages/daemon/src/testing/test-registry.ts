import { registryClient } from '@shoal/protocol/client'
import { startRegistry } from '@shoal/registry'
import { testConfig } from '@shoal/registry/testing'
import { pushFile } from '@shoal/transfer'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './temporary-folder.ts'

/** Starts a real, empty registry. */
export async function startTestRegistry() {
  const data = temporaryFolder()
  const running = await startRegistry(testConfig(data.path))
  const address = `http://127.0.0.1:${running.port}`
  const client = registryClient({ baseUrl: address, token: await running.systemToken() })

  /** Publishes a file of a model. Creates the model if needed. */
  async function publish(modelName: string, path: string, filename?: string) {
    await client.createModel({ name: modelName }).catch((error) => {
      if (error.status !== 409) throw error
    })
    return await pushFile({ client, modelName, path, filename })
  }

  return {
    address,
    client,
    publish,
    async close() {
      await running.close()
      data[Symbol.dispose]()
    },
  }
}

/** Starts a real, empty registry, which is closed at the end of the test. */
export async function useTestRegistry() {
  const registry = await startTestRegistry()
  onTestFinished(registry.close)
  return registry
}
