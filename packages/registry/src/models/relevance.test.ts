import type { Model } from '@shoal/protocol'
import { v7 as newId } from 'uuid'
import { expect } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { makeCatalogue } from './testing/relevance/catalogue.ts'
import { scoreQueries } from './testing/relevance/score-queries.ts'

const batchSize = 500

describeOnEachDatabase('in order of relevance, a search', (start) => {
  slowTest(
    'ranks models well: the mean nDCG@10 of the judged queries is at least 0.9',
    async () => {
      const registry = await start()
      const { db } = await registry.connect()
      const models = makeCatalogue()
      const now = new Date().toISOString()
      const owners = [...new Set(models.map(({ owner }) => owner))]
      await db
        .insertInto('account')
        .values(
          owners.map((username) => ({
            id: newId(),
            username,
            email: null,
            password_hash: null,
            is_admin: 0 as const,
            is_system: 0 as const,
            quota_bytes: null,
            created_at: now,
          })),
        )
        .execute()
      for (let at = 0; at < models.length; at += batchSize) {
        const rows = models.slice(at, at + batchSize).map((model) => ({
          id: newId(),
          name: model.name,
          owner: model.owner,
          display_name: model.display_name ?? model.name,
          description: model.description,
          license: model.license,
          architecture: model.architecture,
          parameter_count: model.parameter_count,
          context_length: null,
          set_by_hand: '[]',
          tags: JSON.stringify(model.tags),
          is_public: 1 as const,
          visibility_version: 1,
          downloads: model.downloads,
          likes: 0,
          quantizations: '[]',
          min_file_size_bytes: null,
          min_memory_bytes: null,
          cache_bytes_per_token: null,
          files_count: 0,
          total_size_bytes: 0,
          created_at: now,
          updated_at: now,
        }))
        await db.insertInto('model').values(rows).execute()
      }

      const { mean, queries } = await scoreQueries(async (q) => {
        const query = new URLSearchParams({ q, sort: 'relevance', limit: '10' })
        const { body }: { body: Model[] } = await registry.get(`/v1/models?${query}`)
        return body.map(({ name }) => name)
      })
      expect(mean).toBeGreaterThanOrEqual(0.9)
      const llama = queries.find(({ q }) => q === 'llama 3.3')
      expect(llama?.found[0]).toBe('llama-3.3-70b-instruct')
    },
  )
})
