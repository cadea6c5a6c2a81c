import { cpus, release, totalmem } from 'node:os'

/** Describes the machine on which the benchmark ran, without its hostname. */
export function machine(): string {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 1024 ** 3)
  return `${cpus().length} × ${cpu?.model.trim()}, ${memory} GiB RAM, Linux ${release().split('-')[0]}, Node ${process.versions.node}`
}
