import { readFileSync } from 'node:fs'
import { crc32, deflateSync, gunzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { TestProject } from '../kit/founder.ts'
import { readSamples } from '../kit/samples.ts'
import { anEvent, dsnParts } from '../kit/sdk.ts'
import {
  eventually,
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  screenshot,
  settled,
  SIZES,
  WIDTHS,
} from './browser.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'

/** Files, feedback and native crashes on the page of their issue. */

const dashboard = await testDashboard()

const dump = gunzipSync(readSamples(/minidump/).at(-1)?.body ?? Buffer.alloc(0))

/** A striped image of 240 × 120 pixels. */
const picture = pngOf(240, 120)

function pngOf(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const around = Buffer.alloc(8)
    around.writeUInt32BE(data.length, 0)
    around.writeUInt32BE(crc32(body), 4)
    return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 0], 8)
  // One filter byte before each row of grey values.
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) rows.fill(y % 16 < 8 ? 90 : 200, y * (width + 1) + 1, (y + 1) * (width + 1))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

type Item = { readonly headers: object; readonly payload: string | Buffer }

/** Sends an envelope, waits for its event's issue, and opens the issue. */
async function openIssueOf(person: Person, project: TestProject, page: Page, event: object, items: Item[]) {
  const { key, projectNumber } = dsnParts(project.dsn)
  const eventId = z.object({ event_id: z.string() }).parse(event).event_id
  const pieces = [{ headers: { type: 'event' }, payload: JSON.stringify(event) }, ...items].flatMap(
    ({ headers, payload }) => [
      Buffer.from(`${JSON.stringify({ ...headers, length: Buffer.from(payload).length })}\n`),
      Buffer.from(payload),
      Buffer.from('\n'),
    ],
  )
  const answer = await fetch(`${dashboard.server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: Buffer.concat([Buffer.from(`{"event_id":"${eventId}"}\n`), ...pieces]),
  })
  expect(answer.status).toBe(200)
  const list = async () => (await person.get(`/api/issues?projectId=${project.id}`)).text
  await eventually(list).toContain('"id"')
  const { items: issues } = z.object({ items: z.array(z.object({ id: z.string() })) }).parse(JSON.parse(await list()))
  await page.goto(`/issues/${issues[0]?.id}`)
  await page.getByRole('region', { name: 'Why grouped' }).waitFor()
}

test('files are shown and downloaded, and feedback is shown', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  const event = anEvent({ breadcrumbs: [] })
  const report = {
    event_id: event['event_id'],
    name: 'Ada',
    email: 'ada@example.com',
    comments: 'I pressed Pay.\nNothing.',
  }
  await openIssueOf(person, project, page, event, [
    { headers: { type: 'attachment', filename: 'screenshot.png', content_type: 'image/png' }, payload: picture },
    {
      headers: { type: 'attachment', filename: 'fake.png', content_type: 'image/png' },
      payload: '<svg onload=alert(1)>',
    },
    {
      headers: { type: 'attachment', filename: '../../app.log', content_type: 'text/plain' },
      payload: 'a line\n'.repeat(300),
    },
    { headers: { type: 'user_report' }, payload: JSON.stringify(report) },
  ])
  const files = page.getByRole('region', { name: 'Attachments' })
  await eventually(() => files.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringMatching(/^screenshot\.png\s*Screenshot\s*/),
    expect.stringMatching(/^fake\.png\s*Image\s*21\sB/),
    expect.stringMatching(/^app\.log\s*File\s*2\.1\skB/),
  ])
  // Files are fetched on demand only.
  await settled(page)
  expect(await files.getByRole('img', { name: 'screenshot.png' }).count()).toBe(0)
  await files.getByRole('button', { name: 'Preview screenshot.png' }).click()
  const shown = files.getByRole('img', { name: 'screenshot.png' })
  await shown.waitFor()
  await eventually(() =>
    page.evaluate<number>('document.querySelector(\'main img[alt="screenshot.png"]\').naturalWidth'),
  ).toBe(240)
  await files.getByRole('button', { name: 'Preview fake.png' }).click()
  await files.getByText('Your browser cannot show this image.').waitFor()

  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    files.getByRole('link', { name: 'app.log' }).click(),
  ])
  expect(saved.suggestedFilename()).toBe('app.log')
  expect(readFileSync(await saved.path(), 'utf8')).toBe('a line\n'.repeat(300))

  const feedback = page.getByRole('region', { name: 'User feedback' })
  await feedback.getByText('I pressed Pay.').waitFor()
  await feedback.getByText('ada@example.com').waitFor()
  await feedback.getByText('about this event').waitFor()
})

test('a refused file is named where the files are', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  const announced = {
    type: 'attachment',
    filename: 'heap.dump',
    content_type: 'application/vnd.sentry.attachment-ref+json',
    attachment_length: 150 * 1024 * 1024,
  }
  await openIssueOf(person, project, page, anEvent({ breadcrumbs: [] }), [{ headers: announced, payload: '{}' }])
  const files = page.getByRole('region', { name: 'Attachments' })
  await files.getByText('heap.dump (150 MiB) was refused: resumable uploads are not offered.').waitFor()
  expect(await files.getByRole('link').count()).toBe(0)
  await settled(page)
  await expectAccessible(page, 'issue with a refused file')
  await page.setViewportSize(WIDTHS.phone)
  await expectNoSideScroll(page, 'issue with a refused file')
})

test('a native crash shows reason, address, threads and modules', async () => {
  const { person, project } = await aTeam(dashboard.server)
  for (const size of SIZES) {
    const page = await dashboard.openAs(person, { size })
    const event = anEvent({ platform: 'native', release: 'game@1', exception: undefined })
    const comments = 'The game closed when the boss appeared. It happened three times this evening.'
    await openIssueOf(person, project, page, event, [
      {
        headers: {
          type: 'attachment',
          attachment_type: 'event.minidump',
          filename: 'mini.dmp',
          content_type: 'application/x-dmp',
        },
        payload: dump,
      },
      { headers: { type: 'attachment', filename: 'screenshot.png', content_type: 'image/png' }, payload: picture },
      {
        headers: { type: 'user_report' },
        payload: JSON.stringify({ event_id: event['event_id'], name: 'Ada', email: 'ada@example.com', comments }),
      },
    ])
    await page.getByRole('heading', { name: /^SIGSEGV/, level: 1 }).waitFor()
    const crash = page.getByRole('region', { name: 'Native crash' })
    await crash.getByText('0x10', { exact: true }).waitFor()
    await crash.getByText('libgame.so + 0x1119').waitFor()
    await crash.getByText('gameapp2n (20626)').waitFor()
    const contexts = page.getByRole('region', { name: 'Contexts' })
    await contexts.getByText('Loaded images').click()
    await contexts.getByRole('row', { name: /libgame\.so 47e097d5-0c96-92d5-cd45-1f9874e73dd7/ }).waitFor()
    await page.getByRole('button', { name: 'Preview screenshot.png' }).first().click()
    await page.getByRole('img', { name: 'screenshot.png' }).waitFor()
    await expectAccessibleInThemes(page, `native crash, ${size}`)
    await expectNoSideScroll(page, `native crash, ${size}`)
    await screenshot(page, `native-crash-${size}`, { fullPage: true })
    await page.context().close()
  }
})

test('profiles are stored once the project enables it', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/general`)
  const profiles = page.getByRole('switch', { name: 'Profiles' })
  await eventually(() => profiles.getAttribute('aria-checked')).toBe('false')
  await profiles.click()
  await page.getByText('Settings saved').waitFor()
  await eventually(() => profiles.getAttribute('aria-checked')).toBe('true')
  await expectAccessible(page, 'general settings')
  await screenshot(page, 'settings-general-kept')
})
