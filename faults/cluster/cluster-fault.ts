import type { Cluster } from '../../cluster/state.ts'
import type { LoadOptions, startLoad } from '../harness/load.ts'
import type { World } from '../harness/world.ts'

/** One way in which a part of a registry with several nodes can fail. */
export type ClusterFault = {
  name: string
  /** A sentence that `--list` prints. */
  summary: string
  load: LoadOptions
  /** Injects the fault, and resolves when the fault has ended. */
  strike(round: ClusterRound): Promise<void>
}

/** A cluster under load, with its own accounts and models. */
export type ClusterRound = {
  cluster: Cluster
  world: World
  load: ReturnType<typeof startLoad>
}
