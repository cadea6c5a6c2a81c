import { freePort } from '../free-port.ts'
import { type Download, type RunningClient, runProgram } from './torrent-client.ts'

const options = [
  '--no-conf',
  '--seed-time=0', // ends when it has what it came for
  '--enable-dht=false',
  '--enable-dht6=false',
  '--bt-enable-lpd=false',
  '--enable-peer-exchange=false',
]

/** Ends when it has the file. `torrent` may be the address of a torrent, too. */
export async function startAria2(program: string, download: Download): Promise<RunningClient> {
  return run(program, [], download)
}

/** Ends when it has written the torrent of a magnet into the folder, under its info hash. Insists on encrypted connections. */
export async function startAria2ForMetadata(
  program: string,
  download: Download,
): Promise<RunningClient> {
  return run(
    program,
    ['--bt-metadata-only=true', '--bt-save-metadata=true', '--bt-force-encryption=true'],
    download,
  )
}

async function run(program: string, more: string[], { torrent, folder, home }: Download) {
  const port = `--listen-port=${await freePort()}`
  return runProgram(program, [...options, ...more, port, `--dir=${folder}`, torrent], home)
}
