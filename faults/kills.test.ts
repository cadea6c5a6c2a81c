import { describeFaults } from './describe-faults.ts'
import { kills } from './kills.ts'

describeFaults(kills)
