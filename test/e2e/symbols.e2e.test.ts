import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventually, expectAccessibleInThemes, expectNoSideScroll, screenshot, SIZES } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

/** From an unreadable crash over the worklist and an upload to a readable issue. */

const dashboard = await testDashboard({ jobs: true })
const MAPPING = readFileSync(new URL('../fixtures/samples/artefacts/proguard-mapping.txt', import.meta.url))
const UUID = 'bcc0ed9d-5b8f-5d9e-8f08-35edec4a0f10'

const crash = {
  platform: 'java',
  level: 'fatal',
  release: 'shop@1.0.0',
  debug_meta: { images: [{ type: 'proguard', uuid: UUID }] },
  exception: {
    values: [
      {
        type: 'IllegalStateException',
        value: 'a.a.c is empty',
        module: 'java.lang',
        mechanism: { type: 'UncaughtExceptionHandler', handled: false },
        stacktrace: { frames: [{ module: 'a.a.b', function: 'b', lineno: 6, filename: 'SourceFile' }] },
      },
    ],
  },
}

test('a crash that is not readable becomes readable with the file that the worklist names', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await dashboard.server.events(project, [crash])
  const page = await dashboard.openAs(person)
  await page.goto(`/issues?project=${project.id}`)
  await page
    .getByRole('link', { name: /IllegalStateException/ })
    .first()
    .click()
  const trace = page.getByRole('region', { name: 'Stack trace' })
  await trace.getByText('not readable').waitFor()
  await page.goto(`/releases?project=${project.id}`)
  await page.getByRole('link', { name: '1.0.0' }).first().click()
  await page.getByText('The newest stack trace of this release is not readable').waitFor()
  await screenshot(page, 'symbols-release')
  await page.getByRole('link', { name: 'Show what is missing' }).click()

  await page.getByRole('heading', { name: 'Symbols', level: 1 }).waitFor()
  const missing = page.getByRole('region', { name: 'Missing for the newest events' })
  await missing.getByText('ProGuard or R8 mapping').waitFor()
  await missing.getByText(`--uuid ${UUID}`).waitFor()
  await screenshot(page, 'symbols-missing')

  const uploads = page.getByRole('region', { name: 'Uploads' })
  await uploads.getByText('No files yet').waitFor()
  await page
    .getByLabel('Files', { exact: true })
    .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no mapping') })
  await page.getByRole('alert').filter({ hasText: 'notes.txt: Send release' }).waitFor()
  await page.getByLabel('Release', { exact: true }).fill('shop@1.0.0')
  await page
    .getByLabel('Files', { exact: true })
    .setInputFiles({ name: 'mapping.txt', mimeType: 'text/plain', buffer: MAPPING })
  await page.getByText('mapping.txt: uploaded, being indexed').waitFor()
  await uploads.getByText('Ready').waitFor()
  await page.getByText('The newest events are readable.').waitFor()
  await uploads
    .getByRole('row', { name: /mapping\.txt/ })
    .getByText('1 event')
    .waitFor()
  await screenshot(page, 'symbols-ready')
  await page.getByRole('button', { name: 'Delete mapping.txt' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete mapping.txt?' })
  await dialog.getByText('1 of the newest events is readable by this file.').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await page.goto(`/issues?project=${project.id}`)
  await page
    .getByRole('link', { name: /CartRepository is empty/ })
    .first()
    .click()
  await trace.getByText('CartViewModel.').first().waitFor()
  await trace.getByText('total').first().waitFor()
  await trace.getByRole('button', { name: 'Raw' }).click()
  await trace.getByText('a.a.b.b(SourceFile:6)').waitFor()
})

test('a file is deleted after a question, and a viewer uploads none', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto(`/symbols?project=${project.id}`)
  await page.getByLabel('Release', { exact: true }).fill('shop@1.0.0')
  await page
    .getByLabel('Files', { exact: true })
    .setInputFiles({ name: 'mapping.txt', mimeType: 'text/plain', buffer: MAPPING })
  await page.getByRole('button', { name: 'Delete mapping.txt' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete mapping.txt?' })
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No files yet').waitFor()
})

test.each(SIZES)('fits and is accessible: %s', async (size) => {
  const { person, project } = await aTeam(dashboard.server)
  await dashboard.server.events(project, [crash])
  const page = await dashboard.openAs(person, { size })
  await page.goto(`/symbols?project=${project.id}`)
  await page.getByText('ProGuard or R8 mapping').waitFor()
  await expectNoSideScroll(page, `symbols, ${size}`)
  await expectAccessibleInThemes(page, `symbols, ${size}`)
  await screenshot(page, `symbols-${size}`)
  await eventually(() => page.getByRole('heading', { name: 'From your build' }).count()).toBe(1)
  expect(await page.getByText('export SENTRY_ORG=').count()).toBe(1)
})
