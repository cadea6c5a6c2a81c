import { databaseFaults } from './databases.ts'
import { describeFaults } from './describe-faults.ts'

describeFaults(databaseFaults)
