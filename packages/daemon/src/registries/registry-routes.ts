/**
 * Lists the known registries, and finds models in them. Routes that send requests to a registry use POST, because
 * browsers then send the `Origin` of the page, and the guard refuses foreign origins.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { RegistryFindRequest, RegistrySearchRequest } from '@shoal/protocol'
import type { Model } from '@shoal/protocol/client'
import type { DaemonConfig } from '../config.ts'
import { clientGone } from '../http/client-gone.ts'
import { findModel, type LocalModel, type LocalModels } from '../models/local-models.ts'
import type { KnownRegistries } from '../pulls/known-registries.ts'
import type { FoundModel, ModelPulls } from '../pulls/pull-model.ts'
import { pullFault } from '../pulls/registry-fault.ts'

type Dependencies = {
  config: Pick<DaemonConfig, 'memoryBytes' | 'modelsDirectory'>
  registries: KnownRegistries
  pulls: ModelPulls
  local: LocalModels
}

const defaultLimit = 20

export const registryRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { config, registries, pulls, local },
) => {
  const { memoryBytes, modelsDirectory } = config

  /** The registry from the settings is the first. */
  app.get('/api/registries', async () => ({
    registries: (await registries.list()).map(({ address, token }) => ({
      address,
      has_credentials: token !== undefined,
    })),
  }))

  app.post(
    '/api/registries/search',
    { schema: { body: RegistrySearchRequest } },
    async ({ body }, reply) => {
      const { client, isTokenRefused } = await registries.open(body.registry ?? undefined)
      const q = body.q?.trim()
      const filter = {
        ...(q && { q }),
        sort: q ? ('relevance' as const) : ('downloads' as const),
        ...(body.fits && { max_memory_bytes: memoryBytes }),
        limit: body.limit ?? defaultLimit,
        offset: body.offset ?? 0,
      }
      const page = await client.listModels(filter, clientGone(reply)).catch((error: unknown) => {
        throw pullFault(error, { model: '', registry: client.baseUrl, modelsDirectory })
      })
      const here = (await local.list()).filter((model) => model.registry !== undefined)
      return {
        registry: client.baseUrl,
        total: page.total,
        is_total_exact: page.isTotalExact,
        is_token_refused: isTokenRefused(),
        memory_limit_bytes: memoryBytes,
        models: page.models.map((model) => toFoundEntry(model, client.baseUrl, here)),
      }
    },
  )

  app.post(
    '/api/registries/find',
    { schema: { body: RegistryFindRequest } },
    async ({ body }, reply) => {
      const allowsUnknown = body.allow_unknown_registry ?? false
      const found = await pulls.find({ model: body.model, allowsUnknown }, clientGone(reply))
      return toFoundFile(found)
    },
  )

  function toFoundEntry(model: Model, registry: string, here: readonly LocalModel[]) {
    const { name, display_name, description, license, owner, parameter_count, quantizations } =
      model
    const { min_memory_bytes, min_file_size_bytes } = model
    return {
      name,
      display_name,
      description,
      license,
      owner,
      parameter_count,
      quantizations,
      min_file_size_bytes,
      min_memory_bytes,
      fits: min_memory_bytes === null ? null : min_memory_bytes <= memoryBytes,
      local_model: findModel(here, `${registry}/${name}`)?.id ?? null,
    }
  }

  async function toFoundFile({ registry, isKnown, name, choice, paths }: FoundModel) {
    const here = (await local.list()).find((model) =>
      paths.every((path) => model.paths.includes(path)),
    )
    return {
      registry,
      is_known: isKnown,
      name,
      label: choice.label,
      quantization: choice.quantization,
      parts: choice.parts,
      size_bytes: choice.sizeBytes,
      memory_bytes: choice.memoryBytes,
      memory_limit_bytes: memoryBytes,
      fits: choice.memoryBytes <= memoryBytes,
      local_model: here?.id ?? null,
    }
  }
}
