import type { Release } from '@shoal/releases'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { type DataOption, dataCommands } from '../server/server-options.ts'
import { withAdmin } from '../server/with-admin.ts'
import { printList } from '../terminal/print-list.ts'
import type { Column } from '../terminal/table.ts'
import { formatBytes } from '../terminal/units.ts'

export function releasesCommand(open: OpenContext): Command {
  const releases = new Command('releases').description(
    'list and add the releases of shoal that the registry offers',
  )
  const add = dataCommands(releases)

  add('ls', 'list the releases').action(async (options: DataOption) => {
    await withAdmin(open, options, async (admin, { printer }) => {
      const all = await admin.releases.list()
      await printList(printer, all, {
        columns,
        none: 'There are no releases. To make one, run npm run release in a clone of the repository, then: shoal admin releases add dist/release',
        document: all.map(toAnswer),
      })
    })
  })

  add(
    'add <path...>',
    'verify and add a release: the folder that “npm run release” creates, or the files in it',
  ).action(async (paths: string[], options: DataOption) => {
    await withAdmin(open, options, async (admin, { printer, asker }) => {
      const { release, isNew } = await admin.releases.add(paths, (key) =>
        asker.confirm(
          `This release is signed with a different key (SHA-256 ${key}) than the previous one. shoal upgrade will refuse it on machines where shoal is already installed. Add it?`,
        ),
      )
      const { version, keyFingerprint: key } = release
      printer.success(
        isNew ? `Added shoal ${version}.` : `shoal ${version} had already been added.`,
      )
      await printer.answer(toAnswer(release), () => [
        `${listPlatforms(release)}, signed with the key ${key}`,
      ])
    })
  })

  return releases
}

const listPlatforms = ({ archives }: Release) => archives.map(({ platform }) => platform).join(', ')

const measure = ({ files }: Release) => files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

const toAnswer = (release: Release) => ({
  id: release.id,
  version: release.version,
  platforms: release.archives.map(({ platform }) => platform),
  key_sha256: release.keyFingerprint,
  files: release.files.map(({ name, sha256, sizeBytes }) => ({
    name,
    sha256_hash: sha256,
    size_bytes: sizeBytes,
  })),
})

const columns: Column<Release>[] = [
  { title: 'VERSION', text: ({ version }) => version },
  { title: 'PLATFORMS', text: listPlatforms },
  { title: 'SIZE', text: (release) => formatBytes(measure(release)), align: 'right' },
  { title: 'KEY', text: ({ keyFingerprint }) => keyFingerprint.slice(0, 16) },
]
