import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { canMount, smallDisk } from '../../../testing/small-disk.ts'
import { temporaryFolder } from '../../../testing/temporary-folder.ts'
import { boundedWriter } from './bounded-writer.ts'
import { openLog } from './open-log.ts'
import { openFile } from './output.ts'

const text = 'x'.repeat(200)

/** Creates a named pipe as the log file, with a reader that reads only when `read` is called. */
function pipe() {
  const path = join(temporaryFolder(), 'log')
  execFileSync('mkfifo', [path])
  const openReader = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  let reader = openReader()
  let unread = ''
  onTestFinished(() => closeSync(reader))
  return {
    path,
    /** Returns the lines that can be read now. */
    read() {
      const buffer = Buffer.alloc(2 ** 16)
      for (;;) {
        const bytes = readNow(reader, buffer)
        if (bytes === 0) break
        unread += buffer.toString('utf8', 0, bytes)
      }
      const lines = unread.split('\n')
      unread = lines.pop() ?? ''
      return lines.map((line) => JSON.parse(line))
    },
    reopen() {
      closeSync(reader)
      return () => {
        reader = openReader()
      }
    },
  }
}

function readNow(fd: number, into: Buffer): number {
  try {
    return readSync(fd, into)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
    throw error
  }
}

test('closing a log writes all remaining lines to the file, in order', async () => {
  const file = join(temporaryFolder(), 'folder', 'server.log')
  const opened = openLog({ to: { file }, level: 'info' })
  for (let n = 0; n < 1_000; n += 1) opened.log.info({ n }, 'a línea')
  await opened.close()
  const again = openLog({ to: { file }, level: 'info' })
  again.log.info({ n: 1_000 }, 'another')
  await again.close()
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).n)).toEqual(
    Array.from({ length: 1_001 }, (_, n) => n),
  )
  expect(opened.droppedLines()).toBe(0)
})

test('control characters in logged text are escaped', async () => {
  const file = join(temporaryFolder(), 'server.log')
  const path = '/\x1b[31m\x9b31m\u202e'
  const opened = openLog({ to: { file }, level: 'info' })
  opened.log.info({ path }, path)
  await opened.close()
  const line = readFileSync(file, 'utf8')
  expect(line).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u)
  expect(JSON.parse(line)).toMatchObject({ path, msg: path })
})

test('unread lines are buffered, then dropped; when reading resumes, a line reports how many were dropped', async () => {
  const { path, read } = pipe()
  const opened = openLog({ to: { file: path }, level: 'info' })
  onTestFinished(() => opened.close())
  for (let n = 0; n < 10_000; n += 1) opened.log.info({ n, text }, 'line') // 3 MB
  const dropped = opened.droppedLines()
  expect(dropped).toBeGreaterThan(5_000)

  const lines = read()
  await expect
    .poll(() => lines.push(...read()) && lines.find((line) => line.dropped !== undefined))
    .toMatchObject({ level: 50, dropped, msg: expect.stringContaining('lines were dropped') })
  expect(lines.length - 1 + dropped).toBe(10_000)
  expect(lines.slice(0, -1).map(({ n }) => n)).toEqual(lines.slice(0, -1).map((_, n) => n))

  opened.log.info('as ever')
  await expect.poll(() => read()).toMatchObject([{ msg: 'as ever' }])
  expect(opened.droppedLines()).toBe(dropped)
})

test('lines logged while the reader is disconnected are written after it reconnects', async () => {
  const { path, read, reopen } = pipe()
  const output = openFile(path)
  const failed = Promise.withResolvers<void>()
  const write = (bytes: Uint8Array) =>
    output.write(bytes).catch((error) => {
      failed.resolve()
      throw error
    })
  const writer = boundedWriter({
    output: { ...output, write },
    maxWaitingBytes: 1_000,
    onResumed: () => undefined,
  })
  onTestFinished(() => writer.close(1_000))
  const log = (msg: string) => writer.write(`${JSON.stringify({ msg })}\n`)
  log('before')
  await expect.poll(() => read()).toMatchObject([{ msg: 'before' }])
  const open = reopen()
  log('while nobody was there')
  await failed.promise
  open()
  await expect.poll(() => read()).toMatchObject([{ msg: 'while nobody was there' }])
})

test('a log without a reader closes within a second and drops later lines', async () => {
  const { path } = pipe()
  const opened = openLog({ to: { file: path }, level: 'info' })
  for (let n = 0; n < 1_000; n += 1) opened.log.info({ text }, 'line')
  await opened.close()
  const dropped = opened.droppedLines()
  opened.log.info('too late')
  expect(opened.droppedLines()).toBe(dropped + 1)
})

test('a line larger than the buffer is dropped, and the next one is written', async () => {
  const { path, read } = pipe()
  const opened = openLog({ to: { file: path }, level: 'info', maxWaitingBytes: 1_000 })
  onTestFinished(() => opened.close())
  opened.log.info(text.repeat(10))
  opened.log.info('small')
  await expect.poll(() => read()).toMatchObject([{ dropped: 1 }, { msg: 'small' }])
})

test.skipIf(!canMount)(
  'on a full disk, only lines that do not fit into the buffer are lost (needs permission to mount)',
  async () => {
    const disk = await smallDisk('64k')
    onTestFinished(disk.unmount)
    const file = join(disk.path, 'server.log')
    const opened = openLog({ to: { file }, level: 'info', maxWaitingBytes: 100_000 })
    for (let n = 0; n < 10_000; n += 1) opened.log.info({ n, text }, 'line')
    expect(opened.droppedLines()).toBeGreaterThan(0)

    disk.resize('16m')
    await expect.poll(() => readFileSync(file, 'utf8')).toContain('"dropped":')
    await opened.close()
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    for (const line of lines) JSON.parse(line)
    expect(lines.length - 1 + opened.droppedLines()).toBe(10_000)
  },
)
