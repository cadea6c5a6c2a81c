/** The page that explains how to install shoal. It needs no scripts, and works even if the web pages are not built. */
import { createHash } from 'node:crypto'
import { formatBytes } from '@shoal/core/units'
import { escapeMarkup } from '@shoal/server/markup'
import { releaseFiles } from '../format/index.ts'
import { quote } from './install-script.ts'
import type { Offered } from './releases.ts'

export const stylePath = '/install/page.css'

/** Returns a page that shows `notice` instead of the commands. */
export function noticePage(notice: string): string {
  return page(`<p>${escapeMarkup(notice)}</p>`)
}

export function installPage(baseUrl: string, offered: readonly Offered[], script: string): string {
  const sha256 = createHash('sha256').update(script).digest('hex')
  const releases = new Set(offered.map(({ release }) => release))
  const keys = new Set([...releases].map(({ keyFingerprint }) => keyFingerprint))
  return page(`
    <p>The script installs the shoal command in <code>~/.local</code> for your user, without root privileges. It sets
    this registry as the default, unless another registry is already set. It does not change the configuration of your
    shell.</p>
    ${baseUrl.startsWith('https:') ? '' : insecure}
    <ol>
      <li>Download the script:
        ${command(`curl -fsSo shoal-install.sh ${quote(`${baseUrl}/install`)}`)}</li>
      <li>Verify its checksum. (It is safer if the registry's operator gives you the checksum over another channel.)
        ${command(`echo '${sha256}  shoal-install.sh' | sha256sum --check`)}</li>
      <li>Run it:
        ${command('sh shoal-install.sh')}</li>
    </ol>
    <p>To install shoal in another folder, run <code>sh shoal-install.sh --prefix FOLDER</code>. Later,
    <code>shoal upgrade</code> installs newer releases that are signed with the same key.</p>
    <h2>Signing key</h2>
    <p>The SHA-256 of the public key is shown below. On the registry's host, <code>shoal admin releases ls --json</code>
    also shows it.</p>
    ${[...keys].map((key) => `<p><code>${key}</code></p>`).join('\n')}
    <h2>All files</h2>
    ${offered.map(filesTable).join('\n')}`)
}

const insecure = `<p class="warning"><strong>This registry uses HTTP.</strong> Anyone on the network between you and
    the registry can change everything that it sends: this page, its checksums, the script and the program.</p>`

const command = (text: string) => `<pre><code>${escapeMarkup(text)}</code></pre>`

function filesTable({ archive: { platform }, release }: Offered): string {
  const rows = release.files.map(
    ({ name, sizeBytes, sha256 }) => `<tr>
        <td><a href="${filePath(platform, name)}">${escapeMarkup(name)}</a></td>
        <td>${formatBytes(sizeBytes)}</td>
        <td><code>${sha256}</code></td>
      </tr>`,
  )
  return `<h3>shoal ${escapeMarkup(release.version)} for ${platform}</h3>
    <div class="table"><table>
      <thead><tr><th>File</th><th>Size</th><th>SHA-256</th></tr></thead>
      <tbody>${rows.join('\n')}</tbody>
    </table></div>
    <p>${signedFiles(platform)}</p>`
}

const signedFiles = (platform: string) =>
  Object.values(releaseFiles)
    .map((name) => `<a href="${filePath(platform, name)}">${name}</a>`)
    .join(', ')

const filePath = (platform: string, name: string) =>
  `/install/${platform}/${encodeURIComponent(name)}`

const page = (content: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>Install shoal</title>
    <link rel="icon" href="/favicon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="${stylePath}">
  </head>
  <body>
    <main>
    <p><a href="/">Models</a></p>
    <h1>Install shoal</h1>
    ${content}
    </main>
  </body>
</html>
`

export const styleSheet = `:root { color-scheme: light dark; font: 1rem/1.5 ui-sans-serif, system-ui, sans-serif; }
body { margin: 0; background: light-dark(#f8fafb, #0f1b22); color: light-dark(#14232b, #edf3f5); }
main { max-width: 48rem; margin: 0 auto; padding: 1.5rem; }
a { color: light-dark(#005f73, #7fd1e0); }
code { font: 0.875em ui-monospace, monospace; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; padding: 0.75rem; border-radius: 0.5rem; background: light-dark(#e8eef1, #0a1318); }
.warning { padding: 0.75rem; border: 2px solid light-dark(#a63a00, #ff9d66); border-radius: 0.5rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: 0.25rem 1rem 0.25rem 0; text-align: left; white-space: nowrap; }
`
