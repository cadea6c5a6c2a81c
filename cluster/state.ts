/** The state of a cluster, which the commands share in a JSON file in the cluster's folder. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { S3Address } from '../testing/s3/start-ceph.ts'

/** A process of the cluster. */
export type ProcessRecord = {
  name: string
  pid: number
  /**
   * The start time of the process, in clock ticks. Identifies the process together with `pid`, because Linux reuses
   * process IDs.
   */
  startTicks: string
  /** How to start the process again; undefined for programs that run to completion. */
  program?: Program
}

/** How to start a process of the cluster. */
export type Program = {
  /** The name of the process, such as `primary`, `redis` or `node1`. */
  name: string
  path: string
  options: string[]
  /** The port on 127.0.0.1; undefined for the S3 server's processes. */
  port?: number
  /** The complete environment. Default: the command's environment. */
  env?: Record<string, string>
  /** The user and group to run as. Default: those of the command. */
  user?: User
}

export type User = { uid?: number; gid?: number }

export type ClusterState = {
  /** The registry's URL, which is the load balancer's. */
  url: string
  ports: { web: number; database: number; primary: number; standby: number }
  /** The URL of the Redis server; undefined if the nodes run without Redis. */
  redisUrl?: string
  s3?: S3Address
  /** `SHOAL_…` variables that `up` passes on to every node. */
  settings: Record<string, string>
  /** The cluster's processes, in the order in which they were started. */
  processes: ProcessRecord[]
}

export type Cluster = {
  directory: string
  state: ClusterState
  /** Programs that this command is waiting for. */
  running: Set<ProcessRecord>
}

export const defaultDirectory = () => join(tmpdir(), `shoal-cluster-${userInfo().username}`)

const stateFile = (directory: string) => join(directory, 'cluster.json')

/** Creates the folder of a cluster. Throws if the folder already exists. */
export function createCluster(directory: string, state: ClusterState): Cluster {
  try {
    mkdirSync(directory, { mode: 0o711 }) // PostgreSQL runs as another user if this process is root
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Error(
      `${directory} already exists: stop its cluster with scripts/cluster down, or choose another --directory`,
    )
  }
  mkdirSync(join(directory, 'log'))
  const cluster = { directory, state, running: new Set<ProcessRecord>() }
  saveCluster(cluster)
  return cluster
}

/** Writes the state atomically, because another command may be reading it. */
export function saveCluster({ directory, state }: Cluster): void {
  const path = stateFile(directory)
  writeFileSync(`${path}.new`, JSON.stringify(state, undefined, 2), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** @throws if there is no cluster */
export function readCluster(directory: string): Cluster {
  try {
    const state: ClusterState = JSON.parse(readFileSync(stateFile(directory), 'utf8'))
    return { directory, state, running: new Set() }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`no cluster in ${directory}: run scripts/cluster up first`)
  }
}

/** @throws if the cluster has no such process */
export function getProcess({ state }: Cluster, name: string): ProcessRecord {
  const found = state.processes.find((one) => one.name === name)
  if (found) return found
  const names = state.processes.map((one) => one.name).join(', ')
  throw new Error(`no process "${name}"; the cluster has: ${names}`)
}
