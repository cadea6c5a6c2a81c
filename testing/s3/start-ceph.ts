import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { findProgram } from '../programs.ts'
import { accepts, untilStarted } from '../until-started.ts'
import { cephConfiguration } from './ceph-configuration.ts'

/** The endpoint of an S3 server, one of its buckets, and the keys of a user who may create more buckets. */
export type S3Address = {
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

type Options = {
  /** An empty folder. */
  directory: string
  /** The bucket to create. */
  bucket: string
  /** The capacity of the object store. */
  memoryBytes: number
  /** Starts a program that keeps running. Returns a function that checks whether the program is still running. */
  launch(program: string, options: string[]): () => boolean
  /** Runs a program and waits until it exits. */
  run: Run
}

type Run = (program: string, options: string[]) => Promise<{ stdout: string }>

const programs = [
  'ceph-mon',
  'ceph-osd',
  'radosgw',
  'radosgw-admin',
  'ceph-authtool',
  'monmaptool',
  'ceph',
  'curl',
]

export const isCephInstalled = () => programs.every((name) => findProgram(name))

/** Starts the three processes of an S3 server: a monitor, an object store in memory, and Ceph’s gateway (radosgw). */
export async function startCeph({ directory, bucket, memoryBytes, launch, run }: Options) {
  for (const folder of ['mon', 'osd', 'log', 'run', 'rgw']) mkdirSync(join(directory, folder))
  const keys = { accessKeyId: 'shoal', secretAccessKey: randomBytes(20).toString('hex') }
  const fsid = randomUUID()
  const [port, monitorPort] = [await freePort(), await freePort()]
  const endpoint = `http://127.0.0.1:${port}`
  const address: S3Address = { endpoint, bucket, region: 'us-east-1', ...keys }
  const path = join(directory, 'ceph.conf')
  writeFileSync(path, cephConfiguration({ directory, fsid, port, monitorPort, memoryBytes }))

  const call = (program: string, ...rest: string[]) => run(program, ['-c', path, ...rest])
  const start = async (program: string, identity: string[], check: () => Promise<unknown>) => {
    const isRunning = launch(program, ['-c', path, ...identity, '-f'])
    await untilStarted(program, check, { isRunning })
  }
  const startGateway = () => start('radosgw', ['-n', 'client.rgw'], () => accepts(port))

  await makeKeys(directory, run)
  const [monmap, keyring] = [join(directory, 'monmap'), join(directory, 'keyring')]
  const monitor = ['--addv', 'a', `[v2:127.0.0.1:${monitorPort}]`]
  await run('monmaptool', ['--create', '--fsid', fsid, ...monitor, monmap])
  await call('ceph-mon', '--mkfs', '-i', 'a', '--monmap', monmap, '--keyring', keyring)
  await start('ceph-mon', ['-i', 'a'], () => call('ceph', '--connect-timeout', '5', 'mon', 'stat'))
  await call('ceph', 'osd', 'new', fsid, '0')
  await call('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', fsid)
  await start('ceph-osd', ['-i', '0'], async () => {
    const { stdout } = await call('ceph', 'osd', 'stat')
    if (!stdout.includes('1 up')) throw new Error(stdout)
  })
  const user = ['user', 'create', '--uid=shoal', '--display-name=shoal']
  const secrets = [`--access-key=${keys.accessKeyId}`, `--secret-key=${keys.secretAccessKey}`]
  await call('radosgw-admin', '-n', 'client.rgw', ...user, ...secrets)
  await startGateway()
  await createBucket(address, run)
  return { address, startGateway }
}

async function makeKeys(directory: string, run: Run) {
  const keyring = join(directory, 'keyring')
  const all = ['--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *', '--cap', 'mgr', 'allow *']
  await run('ceph-authtool', [
    '--create-keyring',
    keyring,
    '--gen-key',
    '-n',
    'mon.',
    ...all.slice(0, 3),
  ])
  for (const name of ['client.admin', 'client.rgw', 'osd.0']) {
    await run('ceph-authtool', [keyring, '--gen-key', '-n', name, ...all])
  }
}

async function createBucket({ endpoint, bucket, region, ...keys }: S3Address, run: Run) {
  const noBody = createHash('sha256').digest('hex')
  const signature = ['--aws-sigv4', `aws:amz:${region}:s3`]
  const credentials = ['--user', `${keys.accessKeyId}:${keys.secretAccessKey}`]
  const header = ['--header', `x-amz-content-sha256: ${noBody}`]
  const request = ['--fail', '--silent', '--request', 'PUT', `${endpoint}/${bucket}`]
  await run('curl', [...signature, ...credentials, ...header, ...request])
}
