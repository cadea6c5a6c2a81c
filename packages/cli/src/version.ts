import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const packageFile = join(import.meta.dirname, '../package.json')

export const { version }: { version: string } = JSON.parse(readFileSync(packageFile, 'utf8'))
