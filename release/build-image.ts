/** Builds a container image from a release's archive, with Debian's `buildah`. Needs root. */
import { execFile } from 'node:child_process'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

type Options = {
  /** The repository. */
  root: string
  /** The path of the release's archive. */
  archive: string
  /** The image that the new one is based on: Debian or similar, with glibc 2.28 or newer and libstdc++. */
  base: string
  /** The name of the image after it has been loaded, such as `shoal:0.1.0`. */
  name: string
  /**
   * The path of the image: an archive for `docker load` and `podman load`. The archive is not compressed, because some
   * versions of these programs cannot read gzip.
   */
  into: string
  /** The time of the image, in seconds since 1970. */
  timeSeconds: number
  /** Options for all buildah commands, such as the folder for images. */
  global?: readonly string[]
}

/**
 * Builds `deploy/Dockerfile`. The commands of the build do not run in separate namespaces (`--isolation chroot`), so
 * that the build also works in a container.
 * @throws if buildah is missing or fails; the error message contains its output
 */
export async function buildImage(options: Options): Promise<void> {
  const { root, archive, base, name, into, timeSeconds, global = [] } = options
  const build = [
    ...['build', '--isolation', 'chroot', '--format', 'docker', '--quiet', '--layers=false'],
    ...['--timestamp', String(timeSeconds), '--pull=missing'],
    ...['--build-arg', `BASE=${base}`, '--build-arg', `ARCHIVE=${basename(archive)}`],
    ...['--file', join(root, 'deploy', 'Dockerfile'), '--tag', name, dirname(archive)],
  ]
  await runBuildah([...global, ...build])
  await runBuildah([...global, 'push', '--quiet', name, `docker-archive:${into}:${name}`])
}

async function runBuildah(words: string[]): Promise<void> {
  await promisify(execFile)('buildah', words).catch((error) => {
    if (error.code !== 'ENOENT') throw error
    throw new Error('building an image requires buildah: apt install buildah', { cause: error })
  })
}
