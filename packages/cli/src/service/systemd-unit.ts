import { Failure } from '../terminal/failure.ts'
import type { ServiceCommand } from './service-words.ts'

/** The first comment in every file that `shoal service install` writes. shoal does not change files without it. */
export const marker = 'Written by: shoal service install'

/**
 * Returns a unit for the user's service manager (systemd.service(5)).
 * @throws `failed` if systemd cannot start a program at this path
 */
export function systemdUnit({ words, env }: ServiceCommand): string {
  const [program = '', ...others] = words
  if (/["'\\]/.test(program)) {
    throw new Failure(
      'failed',
      `systemd cannot start a program whose path contains quotes or backslashes: ${program}`,
      {
        hint: 'Move shoal to another folder.',
      },
    )
  }
  // The colon turns off variable substitution, so that $ is an ordinary character.
  const command = [`:${program}`, ...others].map(quote).join(' ')
  const variables = Object.entries(env).map(
    ([name, value]) => `Environment=${quote(`${name}=${value}`)}\n`,
  )
  return `# ${marker}
[Unit]
Description=shoal, a server for language models on this machine
# Three attempts in a minute are enough if the port is taken or a setting is wrong.
StartLimitIntervalSec=60
StartLimitBurst=3

[Service]
ExecStart=${command}
${variables.join('')}Restart=on-failure
RestartSec=2
# shoal finishes responses in progress, which takes at most 30 s, and unloads its models.
TimeoutStopSec=45
LimitNOFILE=65536

# These directives need no privileges. Directives that hide files are omitted: they need user namespaces, which some
# systems turn off. MemoryDenyWriteExecute is omitted because V8 compiles at run time.
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=default.target
`
}

/** Quotes a word (systemd.syntax(7)). Escapes percent signs, which would otherwise begin specifiers. */
const quote = (word: string) => `"${word.replace(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`

/** The value of a variable in a unit that `systemdUnit` has returned; undefined if the unit does not set it. */
export function readUnitVariable(unit: string, name: string): string | undefined {
  const line = new RegExp(`^Environment="${name}=(.*)"$`, 'm').exec(unit)
  return line?.[1]?.replaceAll('%%', '%').replace(/\\(["\\])/g, '$1')
}
