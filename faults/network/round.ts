/** A fault that affects an entire command or process, at a random moment. */
export type NetworkRound = {
  name: string
  /** A sentence that `--list` prints. */
  summary: string
  /** A program that the round needs and that may not be installed. */
  needs?: string
  /** Resolves with a description of what happened. Rejects if something happened that must never happen. */
  run(scene: Scene): Promise<string>
}

export type Scene = {
  seed: number
  /** A factor by which every timeout is multiplied. */
  timeoutFactor: number
  /** A folder that is deleted at the end of the round. */
  folder: string
  logFolder: string
  cleanup: DisposableStack
}

/** The error of a round in which something happened that must never happen. */
export class RoundFailure extends Error {
  override name = 'RoundFailure'
}

export function expectSo(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new RoundFailure(what)
}
