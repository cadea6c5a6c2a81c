import type { ServiceCommand } from './service-words.ts'
import { marker } from './systemd-unit.ts'

export const agentLabel = 'shoal.daemon'

/**
 * Returns a launch agent for the user (launchd.plist(5)). The agent has not been tested on macOS.
 * @param errorFile The file to which launchd redirects the daemon's stderr, such as the reason why the daemon could not
 * start. The folder of the file must exist.
 */
export function launchdAgent({ words, env }: ServiceCommand, errorFile: string): string {
  const strings = words.map((word) => `    <string>${escapeXml(word)}</string>\n`).join('')
  const variables = Object.entries(env)
    .map(
      ([name, value]) =>
        `    <key>${escapeXml(name)}</key>\n    <string>${escapeXml(value)}</string>\n`,
    )
    .join('')
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${marker} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${agentLabel}</string>
  <key>ProgramArguments</key>
  <array>
${strings}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>45</integer>
  <key>StandardErrorPath</key>
  <string>${escapeXml(errorFile)}</string>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`
}

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** The value of a variable in an agent that `launchdAgent` has returned; undefined if the agent does not set it. */
export function readAgentVariable(agent: string, name: string): string | undefined {
  const entry = new RegExp(`<key>${name}</key>\\s*<string>([^<]*)</string>`).exec(agent)
  return entry?.[1]?.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
