/** Builds and runs container images with Debian's `buildah`, which needs root, but no daemon and no namespaces. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { needProgram } from '../../testing/programs.ts'

const isolation = ['--isolation', 'chroot']

/** Stores images in this folder until the returned object is disposed of. */
export async function openImageStorage(folder: string) {
  await mkdir(folder)
  const global = [
    ...['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')],
    ...['--storage-driver', 'vfs'],
  ]
  const buildah = async (...words: string[]) => {
    const { stdout } = await promisify(execFile)(needProgram('buildah'), [...global, ...words])
    return stdout.trim()
  }

  return {
    global,

    /** Makes an image from the files of a folder. Returns its name. */
    async addFolder(root: string, name: string): Promise<string> {
      const container = await buildah('from', 'scratch')
      await buildah('add', '--quiet', container, root, '/')
      await buildah('commit', '--quiet', '--rm', container, name)
      return name
    },

    /** Loads an image archive, and creates a container from it. */
    async load(archive: string) {
      const container = await buildah('from', '--quiet', `docker-archive:${archive}`)
      const inspected = await buildah('inspect', '--type', 'container', container)
      const { config }: { config: ImageConfig } = JSON.parse(inspected).Docker
      const toWords = (command: string[], env: Record<string, string>) => {
        const settings = Object.entries(env).flatMap(([name, value]) => [
          '--env',
          `${name}=${value}`,
        ])
        return ['run', ...isolation, ...settings, container, '--', ...command]
      }
      return {
        user: config.User,
        /** The image's health check, as a command. */
        healthCheck: config.Healthcheck.Test.slice(1),
        /** Runs a command. If it fails, rejects with the command's output. */
        run: (command: string[], env: Record<string, string>) => buildah(...toWords(command, env)),
        /** Runs the image's default command until the returned object is disposed of. */
        start(env: Record<string, string>) {
          const words = toWords([...config.Entrypoint, ...config.Cmd], env)
          const child = spawn(needProgram('buildah'), [...global, ...words], {
            stdio: ['ignore', 'ignore', 'pipe'],
          })
          return {
            async untilPrinted(text: string) {
              let printed = ''
              for await (const line of createInterface(child.stderr)) {
                printed += `${line}\n`
                if (line.includes(text)) return
              }
              throw new Error(`the container ended:\n${printed}`)
            },
            async [Symbol.asyncDispose]() {
              const ended = once(child, 'exit')
              if (child.kill()) await ended
            },
          }
        },
      }
    },

    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

/** The parts of an image's configuration that are used here (Docker Image Specification 1.2). */
type ImageConfig = {
  User: string
  Entrypoint: string[]
  Cmd: string[]
  Healthcheck: { Test: string[] }
}
