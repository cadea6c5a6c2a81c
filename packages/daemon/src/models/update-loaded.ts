/** What becomes of a loaded model when files come, go and change. */
import { formatLongId, type LocalModel } from './local-models.ts'

type Loaded = { model: LocalModel }

/**
 * Gives loaded models the ids that their files have now, since a name alone may mean another file by then. Answers
 * those whose file is gone: they keep their id, unless another loaded model has it.
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

/** Whether nobody has put another file in its place. */
export function isSameFile(one: LocalModel, other: LocalModel): boolean {
  const isAsOld = one.modifiedAt.getTime() === other.modifiedAt.getTime()
  return isAsOld && one.fileSizeBytes === other.fileSizeBytes
}
