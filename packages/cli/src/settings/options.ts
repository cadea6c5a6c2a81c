/** Options and variables in a command's help, from the settings tables. */
import { formatHelp, listVariables, type Setting } from '@shoal/core/settings'
import { type Command, Option } from 'commander'
import { parseCliSetting } from './read-cli-setting.ts'

/** Creates the option for a setting's flag. */
export const createOption = (one: Setting<unknown>): Option =>
  new Option(one.flag ?? '', formatHelp(one))

/** Like `createOption`, but parses the value. */
export const createParsedOption = (one: Setting<unknown>): Option =>
  createOption(one).argParser((text) => parseCliSetting(one, text))

/** Adds a list of variables to the help of a command. */
export function showVariables(command: Command, settings: readonly Setting<unknown>[]): Command {
  return command.addHelpText('after', () => {
    // An option whose description differs from the setting's takes another value, such as the path of a file.
    const descriptions = new Map(command.options.map((one) => [one.flags, one.description]))
    const flags = settings.flatMap((one) =>
      one.flag && descriptions.get(one.flag) === formatHelp(one) ? [one.flag] : [],
    )
    const variables = listVariables(settings, flags).map(([variable, text]): [string, string] => [
      variable,
      breakLongLists(text),
    ])
    const help = command.createHelp()
    help.prepareContext({ helpWidth: command.configureOutput().getOutHelpWidth?.() ?? 80 })
    const width = Math.max(...variables.map(([variable]) => variable.length))
    const items = variables.map(([variable, text]) => help.formatItem(variable, width, text, help))
    return `\n${help.formatItemList('Variables:', items, help).join('\n').trimEnd()}`
  })
}

/** Breaks long lists without spaces, such as the default rate limits, so that lines fit in 80 columns. */
const breakLongLists = (text: string) =>
  text.replace(/\S{60,}/g, (word) => word.replace(/.{1,40},/g, '$&\n'))
