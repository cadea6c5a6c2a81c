import { describeTamperings } from './describe-faults.ts'
import { tamperings } from './self-test.ts'

for (const [name, group] of Object.entries(tamperings)) describeTamperings(name, group)
