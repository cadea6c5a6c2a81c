/**
 * The method and path of each registry endpoint. `endpoints.ts` adds the schemas, which only servers load; `client/`
 * calls the endpoints. The routes are grouped in the same way as the client's calls. Each route is a separate constant,
 * so that a page loads only the routes that it needs.
 */
export * from './routes/accounts.ts'
export * from './routes/admin.ts'
export * from './routes/credentials.ts'
export * from './routes/downloads.ts'
export * from './routes/edits.ts'
export * from './routes/files.ts'
export * from './routes/members.ts'
export * from './routes/models.ts'
export * from './routes/uploads.ts'
