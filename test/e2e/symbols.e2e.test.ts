import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { zipOf } from '#test/kit/zip.ts'
import { eventually, expectAccessibleInThemes, expectNoSideScroll, screenshot, SIZES, visit } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

/** From unreadable crashes over the worklist and uploads to readable issues. */

const dashboard = await testDashboard({ jobs: true })
const fixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/${name}`, import.meta.url))
const MAPPING = fixture('samples/artefacts/proguard-mapping.txt')
const UUID = 'bcc0ed9d-5b8f-5d9e-8f08-35edec4a0f10'

const androidCrash = {
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

/** A recorded event (`crashes/`), which happens now. */
function recordedCrash(name: string): Record<string, unknown> {
  const event = z.record(z.string(), z.unknown()).parse(JSON.parse(fixture(`crashes/${name}/event.json`).toString()))
  const { event_id: _, timestamp: __, ...fields } = event
  return fields
}

const HermesMap = z.object({ hermes: z.object({ map: z.unknown() }) })

/** Texts that the issue of a crash shows before and after the file of its build. */
const CRASHES = [
  {
    app: 'Android',
    event: androidCrash,
    title: 'IllegalStateException',
    unreadable: 1,
    left: 0,
    missing: 'ProGuard or R8 mapping',
    command: `--uuid ${UUID}`,
    file: { name: 'mapping.txt', release: 'shop@1.0.0', content: MAPPING },
    frames: ['com.acme.shop.CartViewModel.total CartViewModel.java:22'],
    source: null,
    raw: ['at a.a.b.b(SourceFile:6)'],
  },
  {
    app: 'React Native',
    event: recordedCrash('react-native'),
    title: "Cannot read property 'price' of undefined",
    unreadable: 10,
    // The code that starts the bundle is in no file.
    left: 1,
    missing: 'Source map of index.android.bundle',
    command: '--release com.acme.shop@3.1.0+77',
    file: {
      name: 'index.android.bundle.map',
      release: 'com.acme.shop@3.1.0+77',
      content: Buffer.from(
        JSON.stringify(HermesMap.parse(JSON.parse(fixture('source-maps/hermes.json').toString())).hermes.map),
      ),
    },
    frames: ['Checkout#priceOf /app/checkout.ts:19:35', 'onPress /app/index.js:5:73'],
    source: { line: 19, text: 'const item = items.get(format(name))' },
    raw: [
      'at value (app:///index.android.bundle:1:2747)',
      'at map (native)',
      'at onPress (app:///index.android.bundle:1:1959)',
    ],
  },
  {
    app: 'iOS',
    event: recordedCrash('ios'),
    title: 'EXC_BAD_ACCESS',
    unreadable: 4,
    left: 0,
    missing: 'Debug file of Shop',
    command: '--id 4c4c44',
    file: {
      name: 'Shop.app.dSYM.zip',
      release: '',
      content: zipOf({
        'Shop.app.dSYM/Contents/Info.plist': '<plist/>',
        'Shop.app.dSYM/Contents/Resources/DWARF/Shop': fixture('crashes/ios/Shop.dSYM-DWARF'),
      }),
    },
    frames: [
      'shop::priceOf(shop::Item const*) shop.cpp:15',
      'shop::Checkout::total() const shop.cpp:25',
      'shop::Checkout::pay() const shop.cpp:30',
      'onTapPay(shop::Cart const*) shop.cpp:40',
      'main shop.cpp:49',
    ],
    source: null,
    raw: ['0x0000000104a400d4 <redacted>', '0x0000000104a400ac <redacted>'],
  },
  {
    app: 'web',
    event: recordedCrash('web'),
    title: "Cannot read properties of undefined (reading 'filter')",
    unreadable: 4,
    left: 0,
    missing: 'Source map of shop-CDogiW7m.js',
    command: '--release shop-web@2.3.0',
    file: {
      name: 'shop-CDogiW7m.js.map',
      release: 'shop-web@2.3.0',
      content: fixture('crashes/web/shop-CDogiW7m.js.map'),
    },
    frames: [
      'Cart.items shop/cart.ts:17:18',
      'Cart.total shop/cart.ts:12:17',
      'checkout shop/shop.ts:5:26',
      'button.onclick shop/shop.ts:11:24',
    ],
    source: { line: 17, text: 'return items.filter((item) => item.quantity > 0)' },
    raw: ['at e.items (https://shop.example.com/assets/shop-CDogiW7m.js:1:169)'],
  },
] as const

/** From the list of issues. */
async function openIssue(page: Page, title: string): Promise<Locator> {
  await page.getByRole('link', { name: title }).first().click()
  return page.getByRole('region', { name: 'Stack trace' })
}

test('crashes that are not readable become readable with the files that the worklist names', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await dashboard.server.events(
    project,
    CRASHES.map(({ event }) => event),
  )
  const page = await dashboard.openAs(person)
  const list = `/issues?project=${project.id}`
  await page.goto(list)
  for (const { app, title, unreadable } of CRASHES) {
    const trace = await openIssue(page, title)
    const reason = trace.getByTitle('The source map, mapping or debug file of this code was not uploaded.')
    await eventually(() => reason.count()).toBe(unreadable)
    expect(await reason.first().textContent(), app).toBe('not readable')
    if (app !== 'web') await visit(page, list)
    else expect(await trace.getByRole('link', { name: 'Upload missing symbols' }).count()).toBe(1)
  }

  await page.goto(`/releases?project=${project.id}`)
  await page.getByRole('link', { name: '1.0.0' }).first().click()
  await page.getByText('The newest stack trace of this release is not readable').waitFor()
  await screenshot(page, 'symbols-release')
  await page.getByRole('link', { name: 'Show what is missing' }).click()

  await page.getByRole('heading', { name: 'Symbols', level: 1 }).waitFor()
  const missing = page.getByRole('region', { name: 'Missing for the newest events' })
  for (const one of CRASHES) await missing.getByText(one.missing).waitFor()
  const worklist = await missing.textContent()
  for (const { command } of CRASHES) expect(worklist).toContain(command)
  await screenshot(page, 'symbols-missing')

  const files = page.getByLabel('Files', { exact: true })
  const uploads = page.getByRole('region', { name: 'Uploads' })
  await uploads.getByText('No files yet').waitFor()
  await files.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no mapping') })
  await page.getByRole('alert').filter({ hasText: 'notes.txt: Send release' }).waitFor()
  for (const { app, file } of CRASHES) {
    const { name, release, content } = file
    await page.getByLabel('Release', { exact: true }).fill(release)
    if (app === 'web') {
      const dropped = await page.evaluateHandle(`{
        const data = new DataTransfer()
        data.items.add(new File([${JSON.stringify(content.toString())}], ${JSON.stringify(name)}))
        data
      }`)
      await page.getByText('Drop files here').dispatchEvent('drop', { dataTransfer: dropped })
    } else await files.setInputFiles({ name, mimeType: 'application/octet-stream', buffer: content })
    await page.getByText(`${name}: uploaded, being indexed`).waitFor()
  }
  await eventually(() => uploads.getByText('Ready').count()).toBe(CRASHES.length)
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

  await visit(page, list)
  await page
    .getByRole('link', { name: /CartRepository is empty/ })
    .first()
    .waitFor()
  for (const { app, title, left, frames, source, raw } of CRASHES) {
    await visit(page, list)
    const trace = await openIssue(page, title)
    // Function and place are elements beside each other.
    const [first = ''] = frames
    await trace
      .getByText(first.slice(first.lastIndexOf(' ') + 1))
      .first()
      .waitFor()
    expect(await trace.getByText('not readable').count(), app).toBe(left)
    const shown = await trace.textContent()
    for (const frame of frames) expect(shown, app).toContain(frame.replace(/ (?=\S+$)/, ''))
    if (source !== null) {
      const context = trace.getByRole('region', { name: `Source around line ${source.line}` }).first()
      expect(await context.textContent(), app).toContain(source.text)
    }
    await trace.getByRole('button', { name: 'Raw' }).click()
    const text = await trace.getByRole('region', { name: 'Stack trace as text' }).textContent()
    for (const line of raw) expect(text, app).toContain(line)
  }
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
  await dashboard.server.events(project, [androidCrash])
  const page = await dashboard.openAs(person, { size })
  await page.goto(`/symbols?project=${project.id}`)
  await page.getByText('ProGuard or R8 mapping').waitFor()
  await expectNoSideScroll(page, `symbols, ${size}`)
  await expectAccessibleInThemes(page, `symbols, ${size}`)
  await screenshot(page, `symbols-${size}`)
  await eventually(() => page.getByRole('heading', { name: 'From your build' }).count()).toBe(1)
  expect(await page.getByText('export SENTRY_ORG=').count()).toBe(1)
})
