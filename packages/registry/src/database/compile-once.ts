import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from './schema.ts'

type Values = Record<string, string | number | Uint8Array | null>

/**
 * Returns a function that runs a query. The query's SQL text is built only once, because building it for each call
 * would take longer than running the query. `build` receives a placeholder for each value.
 */
export function compileOnce<Row, const Input extends Values>(
  db: Kysely<Database>,
  build: (placeholders: { [Name in keyof Input]: RawBuilder<Input[Name]> }) => RawBuilder<Row>,
): (values: Input) => Promise<Row[]> {
  const placeholders = new Proxy({} as { [Name in keyof Input]: RawBuilder<Input[Name]> }, {
    get: (_target, name) => sql`${name}`,
  })
  const compiled: CompiledQuery<Row> = build(placeholders).compile(db)
  const names = compiled.parameters as (keyof Input)[]
  return async (values) => {
    const parameters = names.map((name) => values[name])
    const { rows } = await db.executeQuery<Row>({ ...compiled, parameters })
    return rows
  }
}
