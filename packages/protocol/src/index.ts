/**
 * The interfaces between shoal's programs: the registry's endpoints and schemas, and the schemas of requests to the
 * daemon.
 */
import * as account from './account.ts'
import * as admin from './admin.ts'
import { Problem } from './common.ts'
import * as file from './file.ts'
import * as model from './model.ts'
import * as release from './release.ts'

export * from './account.ts'
export * from './admin.ts'
export * from './common.ts'
export * as endpoints from './endpoints.ts'
export * from './file.ts'
export { formatPath } from './format-path.ts'
export * from './inference.ts'
export * from './llama-server.ts'
export * from './messages.ts'
export * from './model.ts'
export * from './ollama.ts'
export * from './ranking.ts'
export * from './registries.ts'
export * from './release.ts'
export * from './responses.ts'
export * as routes from './routes.ts'
export * from './text.ts'

/** Every named schema. Register these before the endpoints that refer to them. */
export const namedSchemas = [
  Problem,
  ...Object.values({ ...model, ...file, ...account, ...admin, ...release }),
].filter(
  (schema): schema is typeof schema & { $id: string } =>
    typeof schema === 'object' && !Array.isArray(schema) && '$id' in schema,
)
