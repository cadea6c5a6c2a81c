import { setTimeout as sleep } from 'node:timers/promises'
import type { TestRegistry } from './test-registry.ts'

/**
 * Gets a model's card once it has been rendered. On a busy machine, the first responses contain only the card's source
 * and a Retry-After header.
 */
export async function getCard(
  registry: TestRegistry,
  path: string,
  options?: Parameters<TestRegistry['get']>[1],
) {
  while (true) {
    const response = await registry.get(path, options)
    if (!response.headers.has('retry-after')) return response
    await sleep(100)
  }
}
