/** The settings that a person keeps, one place for what each is called and may be. */
import { join } from 'node:path'
import { distance } from 'fastest-levenshtein'
import { misuse } from '../terminal/failure.ts'
import { parseBytes, parseRatio, wholeNumber } from '../terminal/units.ts'
import { registryAddress } from './address.ts'
import { readJsonFile, updateJsonFile } from './json-file.ts'
import type { Places } from './places.ts'

/** Each setting with its meaning and the check that a new value has to pass, which gives the value to keep. */
export const configKeys = {
  registry: {
    description: 'the registry that commands talk to',
    accept: (text: string): string => registryAddress(text),
  },
  'limit-rate': {
    description: 'how fast pull and push may be, such as 10MB a second',
    accept: (text: string): string => {
      parseBytes(text)
      return text
    },
  },
  connections: {
    description: 'how many connections pull and push open, from 1 to 64',
    accept: (text: string): string => String(wholeNumber(1, 64)(text)),
  },
  peers: {
    description: 'whether pull and serve deal with other people, who see this address: on or off',
    accept: onOrOff,
  },
  'limit-upload': {
    description: 'how fast others may be given what is here, such as 1MB a second',
    accept: (text: string): string => {
      parseBytes(text)
      return text
    },
  },
  ratio: {
    description: 'how many times its size a file is given to others at most, such as 2',
    accept: (text: string): string => {
      parseRatio(text)
      return text
    },
  },
  'local-peers': {
    description: 'whether to look for others on the local network: on or off',
    accept: onOrOff,
  },
} as const

function onOrOff(text: string): string {
  const value = text.toLowerCase()
  if (value === 'on' || value === 'off') return value
  throw misuse(`“${text}” is neither on nor off.`)
}

export type ConfigKey = keyof typeof configKeys
export type Config = Partial<Record<ConfigKey, string>>

export const configPath = (places: Places) => join(places.config, 'config.json')

export async function readConfig(places: Places): Promise<Config> {
  const content = await readJsonFile(configPath(places))
  const known = Object.entries(content).filter(([key]) => key in configKeys)
  return Object.fromEntries(known.map(([key, value]) => [key, String(value)]))
}

/** An empty value takes the setting away. */
export async function setConfig(places: Places, key: ConfigKey, text: string): Promise<void> {
  const value = text === '' ? undefined : configKeys[key].accept(text)
  await updateJsonFile(configPath(places), 0o644, (content) => ({ ...content, [key]: value }))
}

export function configKey(text: string): ConfigKey {
  if (text in configKeys) return text as ConfigKey
  const names = Object.keys(configKeys)
  const nearest = names.find((name) => distance(name, text) <= 3)
  throw misuse(
    `There is no setting called “${text}”.`,
    nearest ? `Did you mean ${nearest}?` : `There are ${names.join(', ')}.`,
  )
}
