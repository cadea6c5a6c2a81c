/** Packs an archive in a process of its own, started by `start-pack-process.ts`, with a lower priority than requests. */
import { setPriority } from 'node:os'
import { openRpc, parentProcessPort } from '@shoal/core/rpc'
import { type ArchiveOptions, packArchive } from './pack-archive.ts'

export type PackMethods = { pack(options: ArchiveOptions): Promise<void> }

/** Linux gives a process with this value a quarter of a busy core. With 19, packing could take hours. */
const niceness = 5

setPriority(niceness) // tar inherits it
openRpc(parentProcessPort(process, { ignoresInterrupt: true }), { pack: packArchive })
