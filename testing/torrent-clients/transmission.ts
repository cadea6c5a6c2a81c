import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { runProgram, type StartClient } from './torrent-client.ts'

const alone = {
  'dht-enabled': false,
  'lpd-enabled': false,
  'pex-enabled': false,
  'utp-enabled': false,
  'port-forwarding-enabled': false,
}

export const startTransmission: StartClient = async (program, { torrent, folder, home }) => {
  await writeFile(join(home, 'settings.json'), JSON.stringify(alone))
  const port = String(await freePort())
  const args = ['--config-dir', home, '--download-dir', folder, '--no-portmap', '--port', port]
  return runProgram(program, [...args, torrent], home)
}
