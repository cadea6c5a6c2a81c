import { type Caller, isActingAdmin, toViewer } from '../../accounts/caller.ts'
import type { ModelRepository, ModelRow } from '../../models/model-repository.ts'
import type { FileRepository } from './file-repository.ts'
import type { FileRow } from './file-row.ts'

export type FilePath = { Params: { model_id: string; file_id: string } }

type Dependencies = { models: ModelRepository; files: FileRepository }
type Request = { params: FilePath['Params']; caller: Caller | undefined }

/**
 * The file that a path identifies, with its model. Throws not-found if the file does not exist or the caller may not
 * see it.
 */
export async function findFile(
  { models, files }: Dependencies,
  { params, caller }: Request,
): Promise<{ model: ModelRow; file: FileRow }> {
  const model = await models.getRow(params.model_id, toViewer(caller, 'read'))
  const file = await files.get(model.id, params.file_id, seesUnready(caller, model))
  return { model, file }
}

/** Whether the caller can see files that are not ready: the model's owner, its members and administrators can. */
export function seesUnready(caller: Caller | undefined, model: ModelRow): boolean {
  if (caller === undefined) return false
  const isMember = typeof model.member_can_write === 'number'
  return caller.username === model.owner || isMember || isActingAdmin(caller)
}
