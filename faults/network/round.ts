/** Something that happens to a whole command or process, with a random moment of its own. */
export type NetworkRound = {
  name: string
  /** One sentence for `--list`. */
  summary: string
  /** A program that not every machine has. */
  needs?: string
  /** Resolves with what was seen; throws where that is not what must be. */
  run(scene: Scene): Promise<string>
}

export type Scene = {
  seed: number
  /** Multiplies every time allowed. */
  patience: number
  /** Thrown away at the end of the round. */
  folder: string
  logFolder: string
  cleanup: DisposableStack
}

/** What a round has seen that must not be. */
export class RoundFailure extends Error {
  override name = 'RoundFailure'
}

export function expectSo(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new RoundFailure(what)
}
