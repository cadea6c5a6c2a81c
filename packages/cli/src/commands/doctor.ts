import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { daemonFindings } from '../doctor/daemon.ts'
import { machineFindings } from '../doctor/machine.ts'
import { registryFindings } from '../doctor/registry.ts'

export function doctorCommand(open: OpenContext): Command {
  return new Command('doctor').description('diagnose common problems').action(async () => {
    const context = await open()
    const { printer } = context
    const findings = [
      ...(await registryFindings(context)),
      ...(await daemonFindings(context)),
      ...(await machineFindings(context)),
    ]
    const { green, red, yellow, dim } = printer.out
    const marks = { ok: green('✓'), warning: yellow('!'), problem: red('✗') }
    await printer.answer(findings, () =>
      findings.flatMap(({ state, text, advice }) => [
        `${marks[state]} ${text}`,
        ...(advice ? [dim(`  ${advice}`)] : []),
      ]),
    )
    if (findings.some(({ state }) => state === 'problem')) context.endWith('failed')
  })
}
