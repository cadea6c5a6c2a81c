/** Options of every command, accepted before or after the command's name. */
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
