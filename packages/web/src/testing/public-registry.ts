import type { FileRecord } from '@shoal/protocol'
import { makeFile, makeMe, makeModel, makeModelRecord } from './samples.ts'
import { ok, problem, scriptedRegistry } from './scripted-registry.ts'

const card = '<h2 id="results">Results</h2><p>A <em>tide</em>.</p>'
const file = makeFile('tide-Q8_0.gguf')
const fileRecord: FileRecord = { ...file, metadata: { 'general.name': 'Tide' }, tensors: null }

/** Returns a script that answers with one page of models. */
export const listOf = (...names: string[]) => ok(names.map((name) => makeModel(name)))

/** A registry with the model `tide` of `ana`, who is signed in unless `isAnonymous` is set. */
export const publicRegistry = ({ isAnonymous = false } = {}) =>
  scriptedRegistry({
    'GET /v1/auth/me': isAnonymous
      ? problem(401, 'sign in')
      : ok(makeMe('ana', { is_admin: true, role: 'admin' })),
    'GET /v1/registry': ok({ registration_open: true }),
    'GET /v1/models': listOf('tide'),
    'GET /v1/facets': ok({ architectures: [], licenses: [], tags: [], quantizations: [] }),
    'GET /v1/stats': ok({ models: 1, files: 1, bytes: 4e9, downloads: 0, parameter_counts: [] }),
    'GET /v1/models/tide': ok(makeModelRecord('tide', { files_count: 1, can_write: true })),
    'GET /v1/models/tide/files': ok([file]),
    'GET /v1/models/tide/card': () => ({ status: 200, body: card }),
    [`GET /v1/models/id-of-tide/files/${file.id}`]: ok(fileRecord),
    'GET /v1/users/ana': ok({ username: 'ana', created_at: file.created_at, models_count: 1 }),
    'GET /v1/api-keys': ok([]),
    'GET /v1/auth/sessions': ok([]),
    'GET /v1/admin/users': ok([]),
    'GET /v1/admin/invitations': ok([]),
    'GET /v1/admin/audit': ok([]),
  })
