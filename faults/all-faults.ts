import { databaseFaults } from './databases.ts'
import { diskFaults } from './disks.ts'
import type { Fault } from './fault.ts'
import { kills } from './kills.ts'
import { surroundingsFaults } from './surroundings.ts'

/** In the order in which they run. */
export const faults: readonly Fault[] = [
  ...kills,
  ...diskFaults,
  ...databaseFaults,
  ...surroundingsFaults,
]
