import 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server to make databases on; undefined where none is installed. */
    postgresUrl: string | undefined
  }
}
