import Type, { type Static } from 'typebox'
import { ByteCount, Nullable, Sha256 } from './common.ts'

const Release = Type.Object(
  {
    version: Type.String(),
    platform: Type.String({ description: 'operating system and processor, such as `linux-x64`' }),
    files: Type.Array(
      Type.Object({
        filename: Type.String({ description: 'downloaded from `/install/{platform}/{filename}`' }),
        size_bytes: ByteCount,
        sha256: Sha256,
      }),
    ),
  },
  { description: 'the newest release for a platform' },
)

export const Releases = Type.Object(
  {
    releases: Type.Array(Release),
    status: Type.Enum(['offered', 'packing', 'no_release', 'loopback_base_url'], {
      description:
        'why `releases` is empty, if it is: the registry is packing its own program, no release was added, or other machines cannot reach the base URL',
    }),
    script_sha256: Nullable({ ...Sha256, description: 'SHA-256 of the installation script' }),
    key_sha256s: Type.Array(Sha256, {
      description: 'SHA-256 of each public key that signed a release',
    }),
  },
  { $id: 'Releases', description: 'releases of shoal that this registry offers' },
)
export type Releases = Static<typeof Releases>
