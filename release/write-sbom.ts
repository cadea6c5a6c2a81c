/** Writes a release's software bill of materials in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import type { Program } from './assemble-program.ts'
import type { InstalledPackage } from './installed-packages.ts'

/** A file that is next to the program in the archives, the Debian package and the image, but not in the npm package. */
export type RuntimePart = {
  name: string
  version: string
  license: string
  path: string
  /** The name by which databases of vulnerabilities know the part (https://nvd.nist.gov/products/cpe). */
  cpe?: string
}

type Options = {
  program: Program
  /** Node, and the libraries that it needs. */
  runtime: readonly RuntimePart[]
  /** The path of the file. */
  into: string
  timeSeconds: number
}

/**
 * Lists the packages in the release, and Node with its libraries. What not all files of the release contain, such as
 * packages that npm adds for the user's platform, is listed as optional.
 */
export async function writeSbom({ program, runtime, into, timeSeconds }: Options): Promise<void> {
  const { version, bundled, native } = program
  const components = [
    ...bundled.map((one) => ({ ...toComponent(one), scope: 'required' })),
    ...native.map((one) => ({ ...toComponent(one), scope: 'optional' })),
    ...(await Promise.all(runtime.map(describeRuntime))),
  ].toSorted((one, other) => (one['bom-ref'] < other['bom-ref'] ? -1 : 1))
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(timeSeconds * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': `pkg:generic/shoal@${version}`,
        name: 'shoal',
        version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components,
  }
  await writeFile(into, `${JSON.stringify(document, null, 2)}\n`)
}

async function describeRuntime({ name, version, license, path, cpe }: RuntimePart) {
  const content = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
  const purl = `pkg:generic/${name.replaceAll('+', '%2B')}@${version}`
  return {
    type: cpe ? 'platform' : 'library',
    'bom-ref': purl,
    name,
    version,
    scope: 'optional',
    purl,
    ...(cpe && { cpe }),
    licenses: [{ expression: license }],
    hashes: [{ alg: 'SHA-256', content }],
  }
}

function toComponent({ name, version, path, license, integrity, source }: InstalledPackage) {
  const url = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return {
    type: 'library',
    'bom-ref': `${url}#${path}`,
    name,
    version,
    purl: url,
    ...(license && { licenses: [{ expression: license }] }),
    ...(integrity && { hashes: integrity.split(' ').map(toHash) }),
    ...(source && { externalReferences: [{ type: 'distribution', url: source }] }),
  }
}

/** Converts a hash from package-lock.json, such as `sha512-…` in Base64. */
function toHash(integrity: string) {
  const [algorithm = '', base64 = ''] = integrity.split(/-(.*)/s)
  return {
    alg: algorithm.replace(/^sha/, 'SHA-'),
    content: Buffer.from(base64, 'base64').toString('hex'),
  }
}
