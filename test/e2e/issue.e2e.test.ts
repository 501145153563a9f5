import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { aProject, type TestProject } from '../kit/founder.ts'
import { anEvent, anException, newEventId, sendEvent } from '../kit/sdk.ts'
import {
  eventually,
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  hasFocus,
  holdToast,
  press,
  screenshot,
  settled,
  SIZES,
} from './browser.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'

const dashboard = await testDashboard()

const frame = (fields: Record<string, unknown>) => ({ in_app: false, lineno: 1, ...fields })

/** A crash with a cause, framework frames, breadcrumbs, request and contexts: the most that an SDK sends. */
function aCrash(fields: Record<string, unknown> = {}): Record<string, unknown> {
  const at = Date.now() / 1000
  return anEvent({
    timestamp: at,
    exception: {
      values: [
        anException({
          type: 'NetworkError',
          value: 'connection reset',
          stacktrace: { frames: [frame({ function: 'read', filename: 'node:net' })] },
        }),
        anException({
          type: 'CheckoutError',
          value: 'order 7 could not be paid',
          mechanism: { type: 'onerror', handled: false },
          stacktrace: {
            frames: [
              frame({ function: 'next', filename: '/srv/node_modules/express/lib/router.js' }),
              frame({ function: 'handle', filename: '/srv/node_modules/express/lib/layer.js' }),
              {
                filename: 'src/checkout.ts',
                function: 'Checkout.confirm',
                lineno: 42,
                colno: 11,
                in_app: true,
                pre_context: ['async confirm(order) {', "  const paid = await pay('card', order)"],
                context_line: "  if (!paid) throw new CheckoutError('could not be paid')",
                post_context: ['}'],
                vars: { order: { id: 7, total: 41.8 }, paid: false },
              },
            ],
          },
        }),
      ],
    },
    breadcrumbs: {
      values: [
        {
          timestamp: at - 31.4,
          type: 'navigation',
          category: 'navigation',
          data: { from: '/basket', to: '/checkout' },
        },
        { timestamp: at - 22, type: 'user', category: 'ui.click', message: 'Pay 41.80' },
        {
          timestamp: at - 0.4,
          type: 'http',
          category: 'fetch',
          level: 'warning',
          data: { method: 'POST', url: 'https://api.example/pay', status_code: 502, attempt: 3 },
        },
      ],
    },
    request: {
      url: 'https://shop.example/checkout?step=2',
      method: 'POST',
      headers: { Referer: 'https://shop.example/' },
    },
    user: { id: 'u1', username: 'ada' },
    contexts: { browser: { name: 'Chrome', version: '147.0' }, os: { name: 'Android', version: '15' } },
    tags: { screen: 'checkout' },
    extra: { basket: { items: 3 } },
    ...fields,
  })
}

const Listed = z.object({ items: z.array(z.object({ id: z.string() })) })

/** Sends events and opens their one issue. */
async function openIssue(
  person: Person,
  project: TestProject,
  events: Record<string, unknown>[],
  page: Page,
): Promise<string> {
  for (const event of events) await dashboard.server.event({ project, ...event })
  const count = () => person.get(`/api/issues?projectId=${project.id}`)
  await eventually(async () => (await count()).text).toContain(`"event_count":${events.length}`)
  const [issue] = Listed.parse((await count()).body).items
  const id = issue?.id ?? ''
  await page.goto(`/issues/${id}`)
  await page.getByRole('region', { name: 'Why grouped' }).waitFor()
  return id
}

test('an issue shows the error, its place, the breadcrumbs and the affected users', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await openIssue(person, project, [aCrash()], page)
  await page.getByRole('heading', { name: 'CheckoutError order 7 could not be paid', level: 1 }).waitFor()

  const trace = page.getByRole('region', { name: 'Stack trace', exact: true })
  await trace.getByText('unhandled').waitFor()
  await trace.getByText('Checkout.confirm').waitFor()
  await trace.getByText('src/checkout.ts:42:11').waitFor()
  await trace.getByRole('region', { name: 'Source around line 42' }).getByText('throw').waitFor()
  await trace.getByText('Caused by').waitFor()
  await trace.getByText('NetworkError').waitFor()
  await trace.getByText('Local variables').click()
  await trace.getByText('"total": 41.8').waitFor()

  // The two frames of the framework are one line until it is opened.
  await settled(page)
  expect(await trace.getByText('router.js').count()).toBe(0)
  await trace.getByRole('button', { name: '2 framework frames express' }).click()
  await trace.getByText('router.js').waitFor()
  await trace.getByRole('button', { name: 'Raw' }).click()
  await trace.getByText('at Checkout.confirm (src/checkout.ts:42:11)').waitFor()
  await press(page, 'y')
  await page.getByText('Stack trace copied').waitFor()
  await eventually(() => page.evaluate<string>('navigator.clipboard.readText()')).toContain(
    'Caused by: NetworkError: connection reset',
  )

  const crumbs = page.getByRole('region', { name: 'Breadcrumbs' })
  await crumbs.getByText('−31.4').waitFor()
  await crumbs.getByText('POST https://api.example/pay').waitFor()
  await crumbs.getByText('order 7 could not be paid').waitFor()
  await crumbs.getByRole('button', { name: 'Network' }).click()
  await eventually(() => crumbs.getByText('Pay 41.80').count()).toBe(0)

  const link = page.getByRole('link', { name: 'https://shop.example/checkout?step=2' })
  await settled(page)
  expect(await link.getAttribute('rel')).toContain('noopener')
  await page.getByRole('region', { name: 'Device and app' }).getByText('Android 15').waitFor()
  await page.getByRole('region', { name: 'Common values' }).getByText('checkout').first().waitFor()
  await page
    .getByRole('region', { name: 'Why grouped' })
    .getByText(/^grouping v\d/)
    .waitFor()
})

test('the project of an issue is that of the pages of one project; without one they offer the choice', async () => {
  const { person, project } = await aTeam(dashboard.server)
  // It would come first by name.
  await aProject(person, { name: 'aaa' })
  const page = await dashboard.openAs(person)
  await openIssue(person, project, [aCrash()], page)
  await page.getByRole('button', { name: project.name }).waitFor()
  await page.getByRole('link', { name: 'Project settings' }).click()
  await page.waitForURL(`**/projects/${project.id}/settings/general`)
  await page.goBack()
  await page.getByRole('link', { name: 'Issues', exact: true }).first().click()
  await page.getByRole('button', { name: 'All projects' }).waitFor()
  await page.getByRole('link', { name: 'Intake' }).click()
  await page.getByRole('region', { name: 'Choose a project' }).waitFor()
  await expectAccessible(page, 'choice of a project')
  await screenshot(page, 'choose-project')
  await page.getByRole('link', { name: 'Project settings' }).click()
  await page.getByRole('heading', { name: 'Project settings', level: 1 }).waitFor()
  await page.getByRole('main').getByRole('link', { name: project.name }).click()
  await page.waitForURL(`**/projects/${project.id}/settings/general`)
})

test('resolve and reopen by key; the activity names the member', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  const id = await openIssue(person, project, [aCrash()], page)
  await press(page, 'r')
  await page.getByText(/^SHOPPER-WEB-1 resolved$/).waitFor()
  await page.getByRole('button', { name: 'Reopen' }).waitFor()
  await page.getByRole('region', { name: 'Activity' }).getByText('resolved this issue').waitFor()
  await eventually(async () => (await person.get(`/api/issues/${id}`)).body['status']).toBe('resolved')
  await press(page, 'r')
  await holdToast(page, /reopened/)
  await page.getByRole('button', { name: /^Resolve(?! options)/ }).waitFor()
  await eventually(async () => (await person.get(`/api/issues/${id}`)).body['status']).toBe('unresolved')
  await press(page, 'z')
  await eventually(async () => (await person.get(`/api/issues/${id}`)).body['status']).toBe('resolved')
})

test('a regressed issue says so, and why', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  const id = await openIssue(person, project, [aCrash()], page)
  await page.getByText('Live', { exact: true }).waitFor()
  await person.patch(`/api/issues/${id}`, { status: 'resolved' })
  await page.getByRole('button', { name: 'Reopen' }).waitFor()
  await dashboard.server.event({ project, ...aCrash({ release: 'shop@1.1.0' }) })
  const reason = page.getByRole('region', { name: /^Regressed in 1\.1\.0/ })
  await reason.getByText('happened after it was resolved').waitFor()
  await page.getByRole('heading', { level: 1 }).waitFor()
})

test('the shown event stays; a newer one is offered; next and previous work', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  const [first, second, third] = [newEventId(), newEventId(), newEventId()]
  const at = Date.now() / 1000
  await openIssue(
    person,
    project,
    [aCrash({ event_id: first, timestamp: at - 60 }), aCrash({ event_id: second, timestamp: at - 30 })],
    page,
  )
  const picker = page.getByRole('region', { name: 'Event', exact: true })
  await picker.getByText(second.slice(0, 8)).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await dashboard.server.event({ project, ...aCrash({ event_id: third }) })
  await picker.getByText('A newer event arrived.').waitFor()
  await picker.getByText(second.slice(0, 8)).waitFor()
  await page.getByRole('region', { name: 'Events over time' }).getByText('3', { exact: true }).first().waitFor()

  await press(page, '.')
  await picker.getByText(third.slice(0, 8)).waitFor()
  await press(page, '[')
  await picker.getByText(second.slice(0, 8)).waitFor()
  expect(page.url()).toContain(`event=${second}`)
  await press(page, '[')
  await picker.getByText(first.slice(0, 8)).waitFor()
  await press(page, ']')
  await picker.getByText(second.slice(0, 8)).waitFor()
  await picker.getByRole('button', { name: 'First' }).click()
  await picker.getByText(first.slice(0, 8)).waitFor()

  await picker.getByRole('button', { name: 'JSON' }).click()
  const json = page.getByRole('dialog', { name: `Event ${first.slice(0, 8)}` })
  await json.getByText(`"event_id": "${first}"`).waitFor()
  await press(page, 'Escape')
  await json.waitFor({ state: 'hidden' })
})

test('comments are written in Markdown, shown without raw HTML, and deleted', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await openIssue(person, project, [aCrash()], page)
  await press(page, 'c')
  await page.keyboard.type(
    '**Mine.** <img src=x onerror=alert(1)> see [the bill](javascript:alert(1)) or https://shop.example/7',
  )
  await press(page, 'Control+Enter')
  const activity = page.getByRole('region', { name: 'Activity' })
  const comment = activity.getByRole('article')
  await comment.getByText('Mine.').waitFor()
  await settled(page)
  expect(await comment.locator('strong').textContent()).toBe('Mine.')
  expect(await comment.locator('img, script').count()).toBe(0)
  await comment.getByText('<img src=x onerror=alert(1)>').waitFor()
  await settled(page)
  expect(await comment.getByRole('link').allTextContents()).toEqual(['https://shop.example/7'])
  await eventually(() => activity.getByRole('textbox', { name: 'Comment' }).inputValue()).toBe('')

  await comment.getByRole('button', { name: 'Comment actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete comment' }).click()
  await page.getByRole('dialog', { name: 'Delete this comment?' }).getByRole('button', { name: 'Delete' }).click()
  await eventually(() => activity.getByRole('article').count()).toBe(0)
  await activity.getByText('A comment was deleted').waitFor()
})

test('text of an event is never interpreted as markup', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  const evil = '"><script>window.hit = 1</script><img src=x onerror="window.hit = 1">'
  await openIssue(
    person,
    project,
    [
      aCrash({
        exception: { values: [anException({ type: evil, value: evil })] },
        tags: { evil },
        extra: { evil, link: 'javascript:window.hit=1' },
        request: { url: 'javascript:window.hit=1', method: 'GET' },
        breadcrumbs: { values: [{ timestamp: Date.now() / 1000, message: evil, category: evil, data: { url: evil } }] },
        user: { id: evil, username: evil },
      }),
    ],
    page,
  )
  await page.getByRole('region', { name: 'Contexts' }).waitFor()
  await settled(page)
  expect(await page.evaluate('window.hit')).toBeUndefined()
  expect(await page.locator('main script, main img[src]').count()).toBe(0)
  expect(await page.locator('main a[href^="javascript"]').count()).toBe(0)
})

test('names such as `constructor` and `__proto__` in events break no page', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await openIssue(
    person,
    project,
    ['constructor', '__proto__'].map((platform) =>
      aCrash({
        platform,
        tags: { toString: 'a tag', valueOf: 'another' },
        contexts: { toString: { type: 'hasOwnProperty', valueOf: 'x' } },
        breadcrumbs: { values: [{ timestamp: Date.now() / 1000, type: platform, message: 'pressed' }] },
      }),
    ),
    page,
  )
  await page.getByRole('region', { name: 'Breadcrumbs' }).getByText('pressed').waitFor()
  await page.getByRole('region', { name: 'Contexts' }).waitFor()
  await page.goto(`/issues?q=${encodeURIComponent('-constructor:x')}`)
  await page
    .getByRole('link', { name: /CheckoutError/ })
    .first()
    .waitFor()
})

test('J and K walk the list the user came from, digits jump to sections', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  for (const [index, type] of ['AError', 'BError'].entries()) {
    const exception = { values: [anException({ type, value: 'x' })] }
    await sendEvent(
      dashboard.server.url,
      project.dsn,
      anEvent({ timestamp: Date.now() / 1000 - index * 60, exception }),
    )
  }
  await eventually(async () => (await person.get('/api/issues')).body['total']).toBe(2)
  await page.goto('/issues')
  await page.getByRole('link', { name: /^AError/ }).click()
  await page.getByRole('heading', { name: /^AError/, level: 1 }).waitFor()
  await page.getByText('1 of 2', { exact: true }).waitFor()
  await press(page, 'j')
  await page.getByRole('heading', { name: /^BError/, level: 1 }).waitFor()
  await page.getByText('2 of 2', { exact: true }).waitFor()
  await press(page, 'k')
  await page.getByRole('heading', { name: /^AError/, level: 1 }).waitFor()
  await press(page, '1')
  await eventually(() => hasFocus(page.getByRole('heading', { name: 'Stack trace' }))).toBe(true)
  await press(page, '5')
  await eventually(() => hasFocus(page.getByRole('heading', { name: 'Activity' }))).toBe(true)

  await page.getByRole('button', { name: 'More actions' }).first().click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog', { name: /^Delete / })
  await dialog.getByRole('textbox').fill('delete 1')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: /^BError/, level: 1 }).waitFor()
  await eventually(async () => (await person.get('/api/issues')).body['total']).toBe(1)
})

test('a message without a stack shows its text first; an unknown issue says so', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  const message = {
    exception: undefined,
    level: 'warning',
    logger: 'shop.stock',
    logentry: { message: 'Stock of %s is low', formatted: 'Stock of milk is low', params: ['milk'] },
  }
  await openIssue(person, project, [anEvent(message)], page)
  const card = page.getByRole('region', { name: 'Message' })
  await card.getByText('Stock of milk is low').waitFor()
  await card.getByText('Stock of %s is low').waitFor()
  await card.getByText('shop.stock').waitFor()

  const address = page.url().split('?')[0] ?? ''
  await page.goto(`${address}?event=${newEventId()}`)
  await page.getByRole('heading', { name: 'This event does not exist' }).waitFor()
  await page.getByRole('link', { name: 'Show the latest event' }).click()
  await card.getByText('Stock of milk is low').waitFor()

  await page.goto('/issues/01a1f7b8-0000-7000-8000-000000000000')
  await page.getByRole('heading', { name: 'This issue does not exist' }).waitFor()
})

test.each(SIZES)('the issue is accessible and fits: %s', async (size) => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person, { size })
  const id = await openIssue(person, project, [aCrash(), aCrash()], page)
  await person.post(`/api/issues/${id}/comments`, { body: 'Mine. See `pay`.' })
  await page.reload()
  await page.getByRole('article').getByText('Mine.').waitFor()
  await page.getByText('Local variables').click()
  for (const name of ['browser', 'Headers']) await page.locator('summary', { hasText: name }).click()
  await expectAccessibleInThemes(page, `issue, ${size}`)
  await expectNoSideScroll(page, `issue, ${size}`)
  await screenshot(page, `issue-${size}`, { fullPage: true })

  await page.getByRole('button', { name: 'JSON' }).click()
  await page.getByRole('dialog').waitFor()
  await expectAccessibleInThemes(page, `event as JSON, ${size}`)
  await press(page, 'Escape')
  await page.getByRole('button', { name: 'More actions' }).filter({ visible: true }).click()
  await page.getByRole('menu').waitFor()
  await expectAccessibleInThemes(page, `menu of an issue, ${size}`)
})
