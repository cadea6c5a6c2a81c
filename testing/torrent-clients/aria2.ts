import { freePort } from '../free-port.ts'
import { type Download, type RunningClient, runProgram } from './torrent-client.ts'

const options = [
  '--no-conf',
  '--seed-time=0', // exits when the download is complete
  '--enable-dht=false',
  '--enable-dht6=false',
  '--bt-enable-lpd=false',
  '--enable-peer-exchange=false',
]

/** Starts aria2, which exits when it has downloaded the file. `torrent` may also be a torrent's URL. */
export async function startAria2(program: string, download: Download): Promise<RunningClient> {
  return run(program, [], download)
}

/**
 * Starts aria2 to download only the metadata of a magnet link, over encrypted connections. aria2 saves a torrent file
 * named after the info hash, and then exits.
 */
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
