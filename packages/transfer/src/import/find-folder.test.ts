import { expect, test } from 'vitest'
import { storeFolders } from './find-folder.ts'

test.each([
  ['linux', {}, '/home/.cache/llama.cpp'],
  ['linux', { XDG_CACHE_HOME: '/cache', LOCALAPPDATA: '/local' }, '/cache/llama.cpp'],
  ['darwin', { XDG_CACHE_HOME: '/cache' }, '/home/Library/Caches/llama.cpp'],
  ['win32', { LOCALAPPDATA: '/local' }, '/local/llama.cpp'],
  ['win32', {}, '/home/AppData/Local/llama.cpp'],
  ['win32', { LLAMA_CACHE: '/models' }, '/models'],
] as const)("llama.cpp's cache on %s with %o is %s", (platform, env, folder) => {
  expect(storeFolders('llama.cpp', { env, home: '/home', platform })).toEqual([folder])
})
