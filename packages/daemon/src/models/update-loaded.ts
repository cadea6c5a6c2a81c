/** Updates the loaded models when files are added, removed or changed. */
import { formatLongId, type LocalModel } from './local-models.ts'

type Loaded = { model: LocalModel }

/**
 * Updates the IDs of loaded models, because a name may now refer to another file. Returns the models whose files are
 * gone. Each of these keeps its ID, unless another loaded model now has that ID.
 */
export function updateLoaded<T extends Loaded>(
  loaded: readonly T[],
  all: readonly LocalModel[],
): T[] {
  const here = new Map(all.map((model) => [model.path, model]))
  const gone: T[] = []
  for (const one of loaded) {
    const now = here.get(one.model.path)
    if (!now) gone.push(one)
    else one.model = isSameFile(one.model, now) ? now : { ...one.model, id: now.id }
  }
  for (const one of gone) {
    const isTwice = loaded.some(({ model }) => model !== one.model && model.id === one.model.id)
    if (isTwice) one.model = { ...one.model, id: formatLongId(one.model) }
  }
  return gone
}

/** Whether the file is unchanged, judging by its modification time and size. */
export function isSameFile(one: LocalModel, other: LocalModel): boolean {
  const isAsOld = one.modifiedAt.getTime() === other.modifiedAt.getTime()
  return isAsOld && one.fileSizeBytes === other.fileSizeBytes
}
