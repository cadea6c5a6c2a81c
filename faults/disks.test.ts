import { describeFaults } from './describe-faults.ts'
import { diskFaults } from './disks.ts'

describeFaults(diskFaults)
