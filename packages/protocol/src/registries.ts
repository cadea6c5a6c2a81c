/** Requests to `/api/registries` of the local daemon, about models in known registries. */
import Type from 'typebox'
import { optional } from './common.ts'

export const RegistrySearchRequest = Type.Object({
  /** The address of a known registry; by default, the one in the settings. */
  registry: optional(Type.String({ minLength: 1, maxLength: 1000 })),
  q: optional(Type.String({ maxLength: 500 })),
  /** Whether to list only models that fit in the daemon's memory. */
  fits: optional(Type.Boolean()),
  limit: optional(Type.Integer({ minimum: 1, maximum: 100 })),
  offset: optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
})

export const RegistryFindRequest = Type.Object({
  /** A model's name, which may include a registry: `https://models.example.org/tide:Q8_0`. */
  model: Type.String({ minLength: 1, maxLength: 1000 }),
  /** Whether the user has agreed to use an unknown registry. */
  allow_unknown_registry: optional(Type.Boolean()),
})
