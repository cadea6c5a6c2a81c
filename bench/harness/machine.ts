import { cpus, release, totalmem } from 'node:os'

/** What the figures were taken on, without names. */
export function machine(): string {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 1024 ** 3)
  return `${cpus().length} × ${cpu?.model.trim()}, ${memory} GiB RAM, Linux ${release().split('-')[0]}, Node ${process.versions.node}`
}
