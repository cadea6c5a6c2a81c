import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { runProgram, type StartClient } from './torrent-client.ts'

const settings = `[LegalNotice]
Accepted=true

[BitTorrent]
Session\\DHTEnabled=false
Session\\LSDEnabled=false
Session\\PeXEnabled=false
Session\\InterfaceAddress=127.0.0.1
Session\\Port=0

[Network]
PortForwardingEnabled=false

[Preferences]
Connection\\ResolvePeerCountries=false
WebUI\\Address=127.0.0.1
WebUI\\UseUPnP=false
`

export const startQbittorrent: StartClient = async (program, { torrent, folder, home }) => {
  const profile = join(home, 'profile')
  const config = join(profile, 'qBittorrent', 'config')
  await mkdir(config, { recursive: true })
  await writeFile(join(config, 'qBittorrent.conf'), settings)
  const args = [`--profile=${profile}`, `--webui-port=${await freePort()}`, '--skip-dialog=true']
  return runProgram(program, [...args, `--save-path=${folder}`, torrent], home)
}
