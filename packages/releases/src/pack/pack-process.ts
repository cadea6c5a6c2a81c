/** The process that `start-pack-process.ts` starts to pack an archive. It has a lower priority than the registry. */
import { setPriority } from 'node:os'
import { openRpc, parentProcessPort } from '@shoal/core/rpc'
import { type ArchiveOptions, packArchive } from '../make/pack-archive.ts'

export type PackMethods = { pack(options: ArchiveOptions): Promise<void> }

/** With this value, a process still gets a quarter of a busy core on Linux. With 19, packing could take hours. */
const niceness = 5

setPriority(niceness) // tar inherits it
openRpc(parentProcessPort(process, { ignoresInterrupt: true }), { pack: packArchive })
