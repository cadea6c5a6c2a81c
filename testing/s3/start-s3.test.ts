import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hasS3 } from '../../testing/servers.ts'
import { findProcesses } from '../find-processes.ts'
import { needProgram } from '../programs.ts'
import { type S3Address, startS3 } from './start-s3.ts'

const run = promisify(execFile)

/** Sends a signed request with curl. Resolves with the status of the response. */
async function callS3({ region, ...s3 }: S3Address, name: string, options: string[]) {
  const { stdout } = await run(needProgram('curl'), [
    ...['--silent', '--write-out', '%{http_code}', '--aws-sigv4', `aws:amz:${region}:s3`],
    ...['--user', `${s3.accessKeyId}:${s3.secretAccessKey}`],
    ...['--header', 'x-amz-content-sha256: UNSIGNED-PAYLOAD'],
    ...[...options, `${s3.endpoint}/${s3.bucket}/${name}`],
  ])
  return Number(stdout)
}

describe.skipIf(!hasS3)("the tests' S3 server", () => {
  test('keeps its objects while the gateway is stopped, and leaves no process behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'shoal-s3-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [sent, received] = [join(folder, 'sent'), join(folder, 'received')]
    writeFileSync(sent, 'tide')

    const server = await startS3()
    if (!server) throw new Error('the S3 server is not installed')
    onTestFinished(server.abandon)
    const { address, directory } = server
    expect(await callS3(address, 'tide', ['--upload-file', sent])).toBe(200)
    const forged = { ...address, secretAccessKey: 'forged' }
    expect(await callS3(forged, 'tide', ['--output', received])).toBe(403)

    await server.stopGateway()
    await expect(fetch(address.endpoint)).rejects.toThrow('fetch failed')
    await server.startGateway()
    expect(await callS3(address, 'tide', ['--output', received])).toBe(200)
    expect(readFileSync(received, 'utf8')).toBe('tide')

    expect(findProcesses(directory)).toHaveLength(3)
    await server.stop()
    expect(findProcesses(directory)).toEqual([])
    expect(existsSync(directory)).toBe(false)
  })
})
