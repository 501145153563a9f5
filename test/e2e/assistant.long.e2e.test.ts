import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { aMemberClient } from '../kit/member-client.ts'
import { fakeModel } from '../kit/fake-model.ts'
import {
  eventually,
  expectAccessibleInThemes,
  expectNoSideScroll,
  hasFocus,
  screenshot,
  type Theme,
} from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'
import { aHealthWorld, counted } from './health-world.ts'

/** Questions, their answers with sources, queries and the analysis of an issue. */

const model = await fakeModel('openai')
afterAll(() => model.close())
const worded = await testDashboard({ env: model.env })
const dashboard = await testDashboard({ jobs: true })
const { server } = dashboard
const { person, project } = await aHealthWorld(server)
await counted(server)
const inProject = `?project=${project.id}`

async function judge(page: Page, name: string): Promise<void> {
  await expectAccessibleInThemes(page, name)
  await expectNoSideScroll(page, name)
  for (const colorScheme of ['dark', 'light'] satisfies Theme[]) {
    await page.emulateMedia({ colorScheme })
    await screenshot(page, `${name}-${colorScheme}`)
  }
}

const lastAnswer = (page: Page) => page.getByRole('article').last()

test('an answer is streamed, and its figures open their sources', async () => {
  const page = await dashboard.openAs(person)
  await page.goto(`/ask${inProject}`)
  const examples = page.getByRole('list', { name: 'Example questions' }).getByRole('button')
  await eventually(() => examples.count()).toBe(4)
  await judge(page, 'ask-empty')

  await examples.nth(1).click()
  const figure = lastAnswer(page)
    .getByRole('button', { name: /source 1/ })
    .first()
  await figure.waitFor()
  await page.getByText(/data up to \d\d:\d\d/).waitFor()
  // Screen readers hear the whole answer, once, without the marks of its sources.
  const spoken = await page.getByRole('status').filter({ hasText: /\d/ }).first().textContent()
  expect(spoken).not.toMatch(/\[\d/)
  await figure.click()
  const source = page.getByRole('complementary', { name: 'Where the numbers come from' })
  await eventually(() => hasFocus(source.locator('summary').first())).toBe(true)
  await source.getByRole('table').first().waitFor()
  await judge(page, 'ask')

  await page.getByRole('textbox', { name: 'Ask a question' }).fill('What is the meaning of life?')
  await page.keyboard.press('Enter')
  await page
    .getByText(/did not understand/)
    .first()
    .waitFor()

  // The conversation belongs to the tab.
  await page.reload()
  await eventually(() => page.getByRole('article').count()).toBe(4)
  await page.setViewportSize({ width: 390, height: 844 })
  await judge(page, 'ask-phone')
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('button', { name: 'New' }).click()
  await eventually(() => page.getByRole('article').count()).toBe(0)
})

test('a question becomes a statement that can be read, edited, saved and exported', async () => {
  const page = await dashboard.openAs(person)
  await page.goto(`/query${inProject}`)
  await judge(page, 'query-empty')
  const field = page.getByRole('textbox', { name: 'Ask for a table' })
  await field.fill('Events by device in the last 7 days')
  await page.keyboard.press('Enter')
  const statement = page.getByRole('region', { name: 'Statement' })
  await statement.locator('mark').first().waitFor()
  expect((await statement.locator('mark').allInnerTexts()).join(' ')).toContain(project.id)
  await page.getByText('written by rules, run by the server').waitFor()
  const result = page.getByRole('region', { name: 'Result' })
  await eventually(() => result.getByRole('columnheader').allInnerTexts()).toEqual(['device', 'events'])
  await judge(page, 'query')
  await page.getByRole('button', { name: 'Chart' }).click()
  await page.getByRole('img', { name: /^events from / }).waitFor()
  await judge(page, 'query-chart')

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('query.csv')

  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Worst devices')
  await page.keyboard.press('Enter')
  await page.getByText('Saved as “Worst devices”').waitFor()
  await page.goto(`/query${inProject}`)
  await page.getByRole('button', { name: 'Saved 1' }).click()
  await page.getByRole('button', { name: 'Worst devices', exact: true }).click()
  await statement.waitFor()

  await page.getByRole('button', { name: 'Edit' }).click()
  const typed = page.getByRole('textbox', { name: 'Type a SELECT' })
  expect(await typed.inputValue()).toMatch(/^SELECT/)
  expect(await typed.inputValue()).not.toContain(project.id)
  await typed.fill('delete from events')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('alert').getByText('This would change data. Only reading is possible.').waitFor()
  await judge(page, 'query-refused')

  await page.getByRole('button', { name: 'Question' }).click()
  await field.fill('Frobnications by device')
  await page.keyboard.press('Enter')
  await page.getByText('This question was not understood').waitFor()
  expect(await page.locator('mark[data-mistake]').innerText()).toBe('Frobnications')
  await page.setViewportSize({ width: 390, height: 844 })
  await judge(page, 'query-phone')
})

test('an issue is analysed on demand, and the evidence leads to its place', async () => {
  const page = await dashboard.openAs(person)
  await page.goto(`/issues${inProject}`)
  await page
    .getByRole('link', { name: /checkoutError/ })
    .first()
    .click()
  const card = page.getByRole('region', { name: 'Analysis' })
  await card.getByRole('button', { name: 'Analyse this issue' }).click()
  await card.getByRole('heading', { name: 'Next step' }).waitFor()
  const frame = card
    .getByRole('listitem')
    .filter({ has: page.getByRole('img', { name: 'Frame' }) })
    .getByRole('link')
    .first()
  await frame.click()
  await eventually(() => new URL(page.url()).hash).toBe('#h-trace')
  const helpful = card.getByRole('button', { name: 'Helpful', exact: true })
  await helpful.click()
  await eventually(() => helpful.getAttribute('aria-pressed')).toBe('true')
  await judge(page, 'analysis')
  await page.reload()
  await eventually(() => helpful.getAttribute('aria-pressed')).toBe('true')

  await card.getByRole('link', { name: 'Ask about this' }).click()
  await page.getByRole('button', { name: /^About SHOPPER/ }).waitFor()
  await page.getByRole('button', { name: 'Who is affected by this issue?' }).click()
  await lastAnswer(page)
    .getByRole('button', { name: /source 1/ })
    .first()
    .waitFor()
})

test('a model words the facts: its markup is text, its figures are checked, and it can be stopped', async () => {
  const team = await aTeam(worded.server)
  const viewer = await aMemberClient(worded.server.app, worded.server.url, team.person, {
    name: 'Vera Viewer',
    role: 'viewer',
  })
  await worded.server.event({ project: team.project, error: { type: 'TypeError', value: 'no price' } })
  const page = await worded.openAs({ ...team.person, ...viewer })
  const field = page.getByRole('textbox', { name: 'Ask a question' })
  const ask = async (question: string) => {
    await field.fill(question)
    await page.keyboard.press('Enter')
  }
  await page.goto('/ask')
  await page.getByText('Worded by stand-in').waitFor()

  model.reply = () => ({ fragments: ['**Some** <img src=x onerror=alert()> and 4711 ', 'events. '], ending: 'stall' })
  await ask('What is new since yesterday?')
  await lastAnswer(page).getByText('no source').waitFor()
  expect(await lastAnswer(page).locator('img').count()).toBe(0)
  await field.fill('And before?')
  await page.keyboard.press('Escape')
  await lastAnswer(page).getByText('You stopped the answer.').waitFor()
  expect(await field.inputValue()).toBe('And before?')
  expect(await lastAnswer(page).innerText()).toContain('<img src=x onerror=alert()>')

  model.reply = () => ({ fragments: ['It began ', 'here '], ending: 'cut' })
  await ask('What is new since yesterday?')
  const goOn = page.getByRole('button', { name: 'Continue' })
  await goOn.waitFor()
  expect(await lastAnswer(page).innerText()).toContain('It began here')
  model.reply = () => ({ fragments: ['It began ', 'here, with the rest.'] })
  await goOn.click()
  await lastAnswer(page).getByText('It began here, with the rest.').waitFor()
  await judge(page, 'ask-model')

  await page.getByRole('link', { name: 'Model and limits' }).click()
  await page.getByText('OpenAI-compatible').waitFor()
  await page
    .getByText(/^3 requests/)
    .first()
    .waitFor()
  await judge(page, 'assistant-state')
})
