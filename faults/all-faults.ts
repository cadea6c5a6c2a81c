import { databaseFaults } from './databases.ts'
import { diskFaults } from './disks.ts'
import { environmentFaults } from './environment.ts'
import type { Fault } from './fault.ts'
import { kills } from './kills.ts'

/** All faults, in the order in which they run. */
export const faults: readonly Fault[] = [
  ...kills,
  ...diskFaults,
  ...databaseFaults,
  ...environmentFaults,
]
