/** Something that happens to a whole command or process at a random moment. */
export type NetworkRound = {
  name: string
  /** One sentence for `--list`. */
  summary: string
  /** A program that may not be installed. */
  needs?: string
  /** Resolves with a description of what happened; rejects if it must not happen. */
  run(scene: Scene): Promise<string>
}

export type Scene = {
  seed: number
  /** Multiplies every timeout. */
  timeoutFactor: number
  /** Deleted at the end of the round. */
  folder: string
  logFolder: string
  cleanup: DisposableStack
}

/** Something happened that must not. */
export class RoundFailure extends Error {
  override name = 'RoundFailure'
}

export function expectSo(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new RoundFailure(what)
}
