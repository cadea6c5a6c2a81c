/** Options of every command, accepted before or after its name. */
export type GlobalOptions = {
  registry?: string
  cacert?: string
  json?: boolean
  quiet?: boolean
  verbose?: boolean
  debug?: boolean
  color: boolean
  input: boolean
  yes?: boolean
  progress?: 'json'
}
