import type { Page, Screen } from './screen.ts'
import type { ShownDaemons } from './shown/daemons.ts'

const question = 'How can a pull from strangers be safe?'
const talker = 'llama-3.2-3b-instruct'
const earlier = [
  'Plan a week of packed lunches',
  'What does Q4_K_M mean?',
  'Rename 400 photographs',
]

/** The daemon's chat page. */
export function chatScreens({ demo, none, talkative, line }: ShownDaemons): Screen[] {
  return [
    { name: 'chat-new', url: demo },
    { name: 'chat-answered', url: demo, act: askDemoModel },
    { name: 'chat-models', url: talkative },
    { name: 'chat-writing', url: talkative, act: seeHalf },
    { name: 'chat-long', url: talkative, act: seeAll },
    { name: 'chat-top', url: talkative, act: seeTop },
    { name: 'chat-list', url: talkative, act: seeList },
    { name: 'chat-settings', url: talkative, act: openSettings },
    { name: 'chat-none', url: none },
    { name: 'chat-gone', url: line.origin, act: loseDaemon, tidy: line.restore },
  ]

  async function loseDaemon(page: Page) {
    await seeHalf(page)
    await line.cut()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
  }
}

async function askDemoModel(page: Page) {
  await choose(page, 'shoal-tiny')
  await ask(page, 'What is the capital of France?')
  await answered(page)
  await ask(page, 'And what is GGUF?')
  await answered(page)
}

async function seeHalf(page: Page) {
  await choose(page, talker)
  await ask(page, question)
  await page.getByRole('table').waitFor()
}

async function seeAll(page: Page) {
  await choose(page, talker)
  await ask(page, question)
  await answered(page)
}

async function seeTop(page: Page) {
  await seeAll(page)
  await page.locator('main > div').first().hover()
  await page.mouse.wheel(0, -5000)
  await page.getByText('Reasoning').click()
  await page.mouse.move(0, 0)
}

/** Shows the list of chats, including earlier chats whose answers were stopped. */
async function seeList(page: Page) {
  for (const one of earlier) {
    await ask(page, one)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.getByRole('link', { name: 'shoal, a new chat' }).click()
  }
  await seeAll(page)
  const chats = page.getByRole('button', { name: 'Chats', exact: true })
  if (await chats.isVisible()) await chats.click()
  await page.getByRole('button', { name: /^Actions for What/ }).click()
}

async function openSettings(page: Page) {
  await seeAll(page)
  await page.getByRole('button', { name: /^Parameters/ }).click()
  await page.getByLabel('Temperature').fill('0.4')
}

const choose = (page: Page, model: string) =>
  page.getByLabel('Model', { exact: true }).selectOption(model)

async function ask(page: Page, text: string) {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}

/** Waits until the answer is complete. */
async function answered(page: Page) {
  await page.getByRole('button', { name: 'Send' }).waitFor({ timeout: 60_000 })
  await page.getByRole('button', { name: 'Try again' }).last().waitFor()
}
