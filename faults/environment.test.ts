import { describeFaults } from './describe-faults.ts'
import { environmentFaults } from './environment.ts'

describeFaults(environmentFaults)
