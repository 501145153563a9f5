import { randomBytes } from 'node:crypto'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import { dsnParts, newEventId } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { TestProject } from '#test/kit/founder.ts'

/** `showReportDialog()` of browser SDKs: the script with the form, and what the form sends. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const strict = await testServer({
  env: {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://faultline.example',
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  },
})
const owner = await server.founder()
const project = await server.project(owner)

const PATH = '/api/embed/error-page/'
const addressOf = (dsn: string, eventId: string, more: Record<string, string> = {}, path = PATH): string =>
  `${path}?dsn=${dsn}&${new URLSearchParams({ eventId, ...more }).toString()}`

const get = (address: string, headers: Record<string, string> = {}) => fetch(server.url + address, { headers })

const post = (address: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(server.url + address, { method: 'POST', headers, body: new URLSearchParams(fields) })

async function feedbackOf(of: TestProject): Promise<readonly Record<string, unknown>[]> {
  await server.service.drain()
  const answer = await owner.get(`/api/projects/${of.id}/feedback`)
  return answer.as<{ items: Record<string, unknown>[] }>().items
}

test('the report is on the issue of its event, which may arrive later', async () => {
  const eventId = newEventId()
  const answer = await post(
    addressOf(project.dsn, eventId),
    { name: 'Ada', email: 'ada@example.com', comments: 'I pressed Pay.\nNothing happened — 生产.' },
    { origin: 'https://shop.example' },
  )
  expect(answer.status, await answer.clone().text()).toBe(200)
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(await answer.json()).toEqual({ id: eventId })
  await server.event({ project, event_id: eventId })
  expect(await feedbackOf(project)).toMatchObject([
    { message: 'I pressed Pay.\nNothing happened — 生产.', name: 'Ada', email: 'ada@example.com', event_id: eventId },
  ])
  const [issue] = await server.issues(owner, `projectId=${project.id}`)
  const { feedback } = (await owner.get(`/api/issues/${issue?.id}`)).as<IssueDetail>()
  expect(feedback).toMatchObject([{ name: 'Ada' }])
})

test('name and e-mail address may be missing, and the text is cut like other feedback', async () => {
  const other = await server.project(owner)
  expect((await post(addressOf(other.dsn, newEventId()), { comments: 'x'.repeat(5_000) })).status).toBe(200)
  const [feedback] = await feedbackOf(other)
  expect(feedback).toMatchObject({ name: null, email: null })
  expect(String(feedback?.['message'])).toHaveLength(4_096)
})

test.each([PATH, '/api/embed/error-page', '/base/path/api/embed/error-page/'])(
  '%s answers the script',
  async (path) => {
    const answer = await get(addressOf(project.dsn, newEventId(), { name: 'Ada' }, path))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await answer.text()).toContain('"name":"Ada"')
  },
)

/** The options that the script runs with, as its own code would read them. */
function optionsOf(script: string): Record<string, unknown> & { texts: Record<string, string> } {
  let found: unknown = null
  const document = {
    get currentScript() {
      return null
    },
  }
  const called = script.replace(/\(options\) => \{/, '(options) => { seen(options);')
  runInNewContext(called, { document, seen: (options: unknown) => void (found = options) })
  return found as ReturnType<typeof optionsOf>
}

test.each([
  `"});alert(1);//`,
  '</script><script>alert(1)</script>',
  '\u2028alert(1)//',
  "'-alert(1)-'",
  '`${alert(1)}`',
  "$&$'$`$1",
  '\\',
  '*/alert(1)/*',
])('%j in any parameter is only a text', async (text) => {
  const names = ['name', 'email', 'title', 'subtitle', 'labelName', 'errorGeneric', 'successMessage']
  const more = Object.fromEntries([...names, 'lang', 'onLoad', text].map((name) => [name, text]))
  const answer = await get(addressOf(project.dsn, newEventId(), more))
  expect(answer.status).toBe(200)
  const script = await answer.text()
  expect(script).not.toContain('</script')
  expect(script).not.toContain('\u2028')
  const { texts, ...options } = optionsOf(script)
  expect(options).toMatchObject({ name: text, email: text, lang: '' })
  expect(texts).toMatchObject({ title: text, labelName: text, successMessage: text })
  expect(Object.keys(texts)).not.toContain('onLoad')
})

test('texts and language are those of the options', async () => {
  const texts = { title: 'Etwas ging schief', labelSubmit: 'Senden', subtitle2: '' }
  const script = await (await get(addressOf(project.dsn, newEventId(), { lang: 'de-AT', ...texts }))).text()
  expect(optionsOf(script)).toMatchObject({ lang: 'de-AT', texts: { ...texts, labelClose: 'Close' } })
})

const { origin, key, projectNumber } = dsnParts(project.dsn)
const host = new URL(origin).host
test.each([
  ['no dsn', `${PATH}?eventId=${newEventId()}`, 401],
  ['a dsn that is none', addressOf('shop', newEventId()), 401],
  ['a key that is none', addressOf(`http://key@${host}/${projectNumber}`, newEventId()), 401],
  ['an unknown key', addressOf(`http://${'0'.repeat(32)}@${host}/${projectNumber}`, newEventId()), 403],
  ['another project', addressOf(`http://${key}@${host}/${Number(projectNumber) + 1}`, newEventId()), 403],
  ['no event id', `${PATH}?dsn=${project.dsn}`, 400],
  ['an event id that is none', addressOf(project.dsn, 'abc'), 400],
  ['an event id with code', addressOf(project.dsn, `${'a'.repeat(32)}");alert(1)`), 400],
  ['the id of no event', addressOf(project.dsn, '0'.repeat(32)), 400],
])('with %s there is no form, and no feedback', async (_what, address, status) => {
  const before = (await feedbackOf(project)).length
  const form = await get(address)
  expect(form.status).toBe(status)
  expect(form.headers.get('content-type')).toBe('application/json')
  expect(form.headers.get('access-control-allow-origin')).toBe('*')
  const sent = await post(address, { comments: 'x' })
  expect(sent.status).toBe(status)
  expect(await feedbackOf(project)).toHaveLength(before)
})

test.each([
  ['without a text', new URLSearchParams({ name: 'Ada', comments: ' \n' }), undefined, 400],
  ['as JSON', '{"comments":"x"}', 'application/json', 415],
  ['above 64 KiB', new URLSearchParams({ comments: 'x'.repeat(70_000) }), undefined, 413],
])('a report %s is refused', async (_what, body, type, status) => {
  const answer = await fetch(server.url + addressOf(project.dsn, newEventId()), {
    method: 'POST',
    body,
    ...(type === undefined ? {} : { headers: { 'content-type': type } }),
  })
  expect(answer.status, await answer.clone().text()).toBe(status)
  expect(await answer.json()).toEqual({ detail: expect.any(String) as string, error: expect.any(String) as string })
})

test('other methods are refused, and a preflight is answered', async () => {
  const address = server.url + addressOf(project.dsn, newEventId())
  expect((await fetch(address, { method: 'PUT' })).status).toBe(405)
  const preflight = await fetch(address, { method: 'OPTIONS' })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, POST')
})

test('the origins of the project hold for form and report', async () => {
  const other = await server.project(owner)
  await owner.patch(`/api/projects/${other.id}/settings`, { allowed_origins: ['https://shop.example'] })
  const address = addressOf(other.dsn, newEventId())
  const status = async (sent: Promise<Response>) => (await sent).status
  expect(await status(get(address, { origin: 'https://shop.example' }))).toBe(200)
  expect(await status(get(address, { origin: 'https://evil.example' }))).toBe(403)
  expect(await status(post(address, { comments: 'x' }, { origin: 'https://evil.example' }))).toBe(403)
  expect(await status(post(address, { comments: 'x' }, { origin: 'https://shop.example' }))).toBe(200)
  expect(await feedbackOf(other)).toHaveLength(1)
})

test('in strict mode the form works, and the rate limits of key and address hold', async () => {
  const ada = await strict.founder()
  const limited = await strict.project(ada)
  await ada.patch(`/api/projects/${limited.id}/settings`, { rate_limit_per_minute: 3 })
  const { key: publicKey, projectNumber: number } = dsnParts(limited.dsn)
  const address = strict.url + addressOf(`https://${publicKey}@faultline.example/${number}`, newEventId())
  expect((await fetch(address)).status).toBe(200)
  const statuses: number[] = []
  for (let times = 0; times < 8; times++) {
    const answer = await fetch(address, { method: 'POST', body: new URLSearchParams({ comments: `number ${times}` }) })
    statuses.push(answer.status)
  }
  expect(statuses[0]).toBe(200)
  expect(statuses.at(-1)).toBe(429)
})
