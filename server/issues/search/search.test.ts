import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer, Client } from '#test/kit/client.ts'
import { interceptedApp } from '#test/kit/intercepted-app.ts'
import { aPerson } from '#test/kit/members.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Issue } from '../rules/issue.api.ts'
import { indexNewTerms, rebuildDocuments, resetDocument } from './index-documents.ts'

/** The query language on a real database, in every list. */

const server = await testServer({ realTime: true, env: { RATE_LIMIT_SCALE: '0' } })
let ada: Client & { email: string }
let shop: TestProject
let site: TestProject

const now = Date.now() / 1000
const DAY = 86_400

beforeAll(async () => {
  ada = await aFounder(server.url)
  shop = await aProject(ada, { name: 'Shop' })
  site = await aProject(ada, { name: 'Site' })
  const plan: [TestProject, Record<string, unknown>][] = [
    [
      shop,
      anEvent({
        error: 'alpha',
        release: '1.2.3',
        environment: 'production',
        user: { id: '7', email: 'kim@example.com' },
        tags: { tenant: 'North Wind', level: 'gold', size: '7' },
        contexts: { device: { model: 'SM-A125F' }, os: { name: 'Android', version: '14' } },
        timestamp: now - 10,
      }),
    ],
    [shop, anEvent({ error: 'alpha', release: '1.3.0', user: { id: '8' }, timestamp: now - 5 })],
    [
      shop,
      anEvent({ error: 'beta', release: '1.2.9', environment: 'staging', level: 'fatal', timestamp: now - 2 * DAY }),
    ],
    [
      site,
      anEvent({
        error: 'gamma',
        release: '2.0.0',
        level: 'warning',
        tags: { tenant: 'south' },
        timestamp: now - 20 * DAY,
      }),
    ],
    [site, anEvent({ error: 'delta', release: '2.0.0', level: 'info', user: { id: '7' }, timestamp: now - 60 })],
  ]
  for (const [project, event] of plan) await sendEvent(server.url, project.dsn, event)
  await server.service.drain()
  await indexNewTerms(server.app)
  const [alpha] = await found('alpha')
  await ada.patch(`/api/issues/${idOf(alpha)}`, { assignee_id: (await me()).id })
  const [gamma] = await found('gamma')
  await ada.patch(`/api/issues/${idOf(gamma)}`, { status: 'resolved' })
})

const orgId = async () => (await ada.get('/api/me')).as<{ org: { id: string } }>().org.id
const me = async () => (await ada.get('/api/me')).as<{ user: { id: string } }>().user
const ids = new Map<string, string>()
const idOf = (name: string | undefined): string => ids.get(name ?? '') ?? ''

type List = { items: Issue[]; total: number; status_counts?: Record<string, number>; next_cursor: string | null }

async function answerTo(path: string, q: string): Promise<List> {
  const answer = await ada.get(`${path}?q=${encodeURIComponent(q)}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<List>()
}

async function found(q: string, path = '/api/issues/search'): Promise<string[]> {
  const { items, total } = await answerTo(path, q)
  expect(total).toBe(items.length)
  for (const { type, id } of items) ids.set((type ?? '').replace('Error', ''), id)
  return items.map(({ type }) => (type ?? '').replace('Error', '')).toSorted()
}

const ALL = ['alpha', 'beta', 'delta', 'gamma']
const today = new Date().toISOString().slice(0, 10)

test('a misspelt word finds what the similar word of the issues does, and says so', async () => {
  for (const [q, names] of [
    ['alhpa', ['alpha']],
    ['alphaEror', ['alpha']],
    ['level:fatal btea', ['beta']],
    ['"alhpa"', []],
    ['alhpa OR btea', []],
    ['-alhpa', ALL],
    ['qqqqqq', []],
  ] as const)
    expect(await found(q), q).toEqual(names)
  const { items, hints } = (await ada.get('/api/issues?q=AlhpaErro+failde')).as<
    List & { hints: { start: number; end: number; sentence: string; replacement: string }[] }
  >()
  expect(items.map(({ type }) => type)).toEqual(['alphaError'])
  expect(hints).toEqual([
    { start: 0, end: 9, sentence: 'No issue has "alhpaerro". These have "alphaerror".', replacement: 'alphaerror' },
    { start: 10, end: 16, sentence: 'No issue has "failde". These have "failed".', replacement: 'failed' },
  ])
  expect((await ada.get('/api/issues/volume?q=alhpa&range=24h')).as<{ total: number }>().total).toBe(2)
})

test('a misspelt word changes and deletes nothing', async () => {
  for (const [method, body] of [
    ['PATCH', { status: 'resolved' }],
    ['DELETE', {}],
  ] as const) {
    const answer = await ada.request(method, '/api/issues', { body: { query: 'alhpa', ...body } })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('Did you mean \\"alpha\\"?')])
  }
  expect(await found('alpha is:unresolved')).toEqual(['alpha'])
})

test.each<[string, string[]]>([
  ['', ALL],
  ['--', ALL],
  ['alpha', ['alpha']],
  ['src/gam', ['gamma']],
  ['release', []],
  ['environment OR user OR os OR device OR type', []],
  ['fail -beta !gamma', ['alpha', 'delta']],
  ['"fail"', []],
  ['"failed" "alpha"', ['alpha']],
  ['ALPHA OR beta', ['alpha', 'beta']],
  ['(alpha OR beta) release:1.2.*', ['alpha', 'beta']],
  ['wind', ['alpha']],
  ["'; drop table issues; --", []],
  ["it's \\ 'x' & | ! <-> :*", []],
  ['is:resolved', ['gamma']],
  ['is:[resolved, unresolved]', ALL],
  ['-is:resolved', ['alpha', 'beta', 'delta']],
  ['level:fatal', ['beta']],
  ['level:fatal OR level:warning', ['beta', 'gamma']],
  ['level:fatal level:warning', []],
  ['severity:low', ['delta']],
  ['platform:java*', ALL],
  ['platform:python', []],
  ['unhandled:false', ALL],
  ['error.unhandled:false', ALL],
  ['is:handled', ALL],
  ['assigned:me', ['alpha']],
  ['assigned:none', ['beta', 'delta', 'gamma']],
  ['assigned:[me, none]', ALL],
  ['project:shop', ['alpha', 'beta']],
  ['-project:Shop', ['delta', 'gamma']],
  ['release:1.2.*', ['alpha', 'beta']],
  ['release:1.3.0', ['alpha']],
  ['release:1.*0', ['alpha']],
  ['release:"1.2.*"', []],
  ['release:[1.3.0, 2.0.0]', ['alpha', 'delta', 'gamma']],
  ['release:latest', ['alpha', 'delta', 'gamma']],
  ['-release:LATEST', ['beta']],
  ['project:shop release:latest', ['alpha']],
  ['release:[latest, 1.2.9]', ALL],
  ['first_release:latest', ['delta', 'gamma']],
  ['first_release:1.2.3', ['alpha']],
  ['last_release:1.2.3', []],
  ['last_release:1.3*', ['alpha']],
  ['environment:staging', ['beta']],
  ['type:alphaerror', ['alpha']],
  ['type:a*Error', ['alpha']],
  ['type:*ALPHA*', ['alpha']],
  ['type:*eTaError', ['beta']],
  ['-release:[*.3, *.9]', ['delta', 'gamma']],
  ['first_release:*.3', ['alpha']],
  ['user.id:7', ['alpha', 'delta']],
  ['user:7', ['alpha', 'delta']],
  ['user:kim@example.com', ['alpha']],
  ['user:*@EXAMPLE.com', ['alpha']],
  ['-user:[8, else9]', ['beta', 'delta', 'gamma']],
  ['user:email:kim@example.com OR user:id:8', ['alpha']],
  ['env:[staging, nowhere]', ['beta']],
  ['os:android device:SM-A125F', ['alpha']],
  ['timesSeen:>1 userCount:>=2', ['alpha']],
  ['shop-1', ['alpha']],
  ['SHOP-2 OR issue:Site-2', ['beta', 'delta']],
  ['-issue:[shop-1, site-1, SHOP-99]', ['beta', 'delta']],
  ['shop-99', []],
  ['title:alphaerr', ['alpha']],
  ['title:"error: alpha"', ['alpha']],
  ['title:lphaError', []],
  ['-title:*lphaError*', ['beta', 'delta', 'gamma']],
  ['message:*failed*', ALL],
  ['message:fail*beta', []],
  ['error.value:*BETA*failed', ['beta']],
  ['level:fatal OR message:"alpha failed"', ['alpha', 'beta']],
  ['culprit:*alpha*', ['alpha']],
  ['location:src/gamma', ['gamma']],
  ['title:":"', ALL],
  ['user.id:7 project:site', ['delta']],
  ['-user.id:7', ['beta', 'gamma']],
  ['user.email:kim@example.com', ['alpha']],
  ['user.email:[zoe@example.com, KIM@example.*]', ['alpha']],
  ['-user.email:k*', ['beta', 'delta', 'gamma']],
  ['Kim@example.com', ['alpha']],
  ['kim', []],
  ['has:user.email', ['alpha']],
  ['device.model:"SM-A125F"', ['alpha']],
  ['device.model:sm-*', ['alpha']],
  ['os.name:Android os.version:14', ['alpha']],
  ['tenant:"north wind"', ['alpha']],
  ['tenant:[south, "North Wind"]', ['alpha', 'gamma']],
  ['tag.level:gold', ['alpha']],
  ['tag.tenant:south', ['gamma']],
  ['has:tenant', ['alpha', 'gamma']],
  ['-has:tenant', ['beta', 'delta']],
  ['has:user', ALL],
  ['has:level -has:events', []],
  ['first_release:*', ALL],
  ['-user.id:*', []],
  ['has:assigned', ['alpha']],
  ['nosuchtag:x', []],
  ['events:>1', ['alpha']],
  ['events:1', ['beta', 'delta', 'gamma']],
  ['users:>=2', ['alpha']],
  ['users:<1', []],
  ['last_seen:-24h', ['alpha', 'delta']],
  ['last_seen:+7d', ['gamma']],
  [`last_seen:${today}`, ['alpha', 'delta']],
  [`first_seen:<${today}`, ['beta', 'gamma']],
  ['age:>10d', ['gamma']],
  ['level:fatal OR alpha', ['alpha', 'beta']],
  ['-(level:fatal OR alpha)', ['delta', 'gamma']],
  ['(user.id:8 OR is:resolved) -level:info', ['alpha', 'gamma']],
])('%s', async (q, expected) => {
  if (q.includes(today) && new Date().getUTCHours() === 0) return
  expect(await found(q)).toEqual(expected)
  expect(await found(q, '/api/issues')).toEqual(expected)
  const inShop = await found(q, `/api/projects/${shop.id}/issues`)
  expect(inShop).toEqual(expected.filter((name) => ['alpha', 'beta'].includes(name)))
})

test('texts of the newest event are found with their numbers, which the index lacks', async () => {
  const eve = await aFounder(server.url)
  const project = await aProject(eve, { name: 'Numbers' })
  for (const number of [1_234_567, 7_654_321]) {
    await server.event({ project, error: { in: 'load', type: 'IOError', value: `order ${number} not found` } })
    await indexNewTerms(server.app)
  }
  const total = async (q: string) => (await eve.get(`/api/issues?q=${encodeURIComponent(q)}`)).as<List>().total
  for (const q of ['title:"IOError: order 7654321 not found"', 'message:"order 76"', 'title:"order 7654321 n"'])
    expect(await total(q), q).toBe(1)
  for (const q of ['title:"order 1234567"', 'message:"order 7654322"', 'title:"54321 order"'])
    expect(await total(q), q).toBe(0)
})

test('a query and the filters of the list apply together, also to the counts per status', async () => {
  const { status_counts: counts, total } = await answerTo('/api/issues', 'project:site')
  expect(counts).toEqual({ unresolved: 1, resolved: 1, ignored: 0, regressed: 0, escalated: 0 })
  expect(total).toBe(2)
  const answer = await ada.get('/api/issues?q=project:site&status=resolved&severity=low')
  expect(answer.as<List>()).toMatchObject({ total: 0, items: [] })
})

test.each([
  ['assigned:none@example.com', 'q: no member of this organisation is called "none@example.com" (character 1).'],
  ['alpha project:other', 'q: there is no project "other" (character 7).'],
  ['is:open', 'q: is takes unresolved, resolved, ignored, regressed, escalated (character 4).'],
  ['x'.repeat(10_001), 'The address is longer than 8,192 characters.'],
])('%.30s is refused by every list', async (q, error) => {
  for (const path of ['/api/issues', '/api/issues/search', `/api/projects/${shop.id}/issues`])
    expect(await ada.get(`${path}?q=${encodeURIComponent(q)}`)).toMatchObject({ status: 400, body: { error } })
})

test('a refusal marks its place, also where names are looked up, and says what may be meant', async () => {
  const mistakeOf = ({ headers }: Answer): unknown => JSON.parse(headers.get('x-query-mistake') ?? 'null')
  const marks = async (q: string) => {
    const answer = await ada.get(`/api/issues?q=${encodeURIComponent(q)}`)
    expect(Object.keys(answer.body)).toEqual(['error'])
    return { ...answer.body, ...(mistakeOf(answer) as object) }
  }
  expect(await marks('alpha project:other beta')).toEqual({
    error: 'q: there is no project "other" (character 7).',
    position: { start: 6, end: 19 },
  })
  expect(await marks('is:unresolvd')).toEqual({
    error: 'q: is takes unresolved, resolved, ignored, regressed, escalated (character 4).',
    position: { start: 3, end: 12 },
    hints: [{ start: 3, end: 12, sentence: 'No is "unresolvd". Did you mean unresolved?', replacement: 'unresolved' }],
  })
  const refused = await ada.post('/api/views', { name: 'Broken', query: 'a AND' })
  expect(refused).toMatchObject({ status: 400, body: { error: 'query: AND has nothing after it (character 3).' } })
  expect(mistakeOf(refused)).toEqual({ position: { start: 2, end: 5 } })
})

test('a key that is no tag of the scope is named, with the key that may be meant', async () => {
  const hintsOf = async (q: string, scope = '') =>
    (await ada.get(`/api/issues?q=${encodeURIComponent(q)}${scope}`)).as<{ hints: unknown[] }>().hints
  expect(await hintsOf('alpha enviroment:production')).toEqual([
    {
      start: 6,
      end: 16,
      sentence: 'No tag "enviroment". Did you mean environment?',
      replacement: 'environment',
    },
  ])
  expect(await hintsOf('(has:tennant OR -relase:1 OR tenant:acme)')).toEqual([
    { start: 5, end: 12, sentence: 'No tag "tennant". Did you mean tenant?', replacement: 'tenant' },
    { start: 17, end: 23, sentence: 'No tag "relase". Did you mean release?', replacement: 'release' },
  ])
  expect(await hintsOf('whatsoever:x')).toEqual([
    { start: 0, end: 10, sentence: 'No issue has the tag "whatsoever".', replacement: null },
  ])
  for (const q of ['', 'alpha', 'tenant:else9', 'tag.level:gold env:x TIMES_SEEN:>9', 'https://x.example'])
    expect(await hintsOf(q), q).toEqual([])
  // A tag of the other project.
  expect(await hintsOf('size:7', `&projectId=${site.id}`)).toMatchObject([{ replacement: null }])
  expect(await hintsOf('size:7', `&projectId=${shop.id}`)).toEqual([])
  expect(await hintsOf('whatsoever:x', '&offset=5')).toEqual([])
})

test('a query of the maximum address length is parsed, and a longer one is refused', async () => {
  const deep = '('.repeat(500).padEnd(7_500, 'a+') + ')'.repeat(500)
  expect(await ada.get(`/api/issues?q=${deep}`)).toMatchObject({
    status: 400,
    body: { error: 'q: groups go at most 20 deep (character 21).' },
  })
  const long = `alpha+${'-'.repeat(8_000)}`
  expect(await ada.get(`/api/issues?q=${long}`)).toMatchObject({ status: 200, body: { total: 1 } })
  expect(await ada.get(`/api/issues?q=${'('.repeat(500).padEnd(10_000, 'a+')}`)).toMatchObject({
    status: 400,
    body: { error: 'The address is longer than 8,192 characters.' },
  })
  expect(await ada.get(`/api/issues/search?q=a&q=b`)).toMatchObject({
    status: 400,
    body: { error: 'q must be one text; join terms with AND or OR.' },
  })
})

test('a search finds nothing of another organisation, by project, member or user', async () => {
  const eve = await aFounder(server.url)
  const project = await aProject(eve, { name: 'Elsewhere' })
  await server.event({ project, error: 'alpha', user: { id: '7' } })
  for (const q of ['alpha', 'user.id:7', 'type:alphaError', '-beta']) {
    const { items } = (await eve.get(`/api/issues/search?q=${encodeURIComponent(q)}`)).as<List>()
    expect(items.map((issue) => issue.project_id)).toEqual([project.id])
  }
  expect(await eve.get('/api/issues/search?q=project:shop')).toMatchObject({ status: 400 })
  expect(await eve.get(`/api/issues/search?q=assigned:${ada.email}`)).toMatchObject({ status: 400 })
})

test('issues of a disabled member are unassigned, and a team is found by its name', async () => {
  const zoe = await aPerson(server.app, { org: { id: await orgId(), slug: '' }, role: 'member', name: 'Zoë ÄRGER' })
  const [delta] = await found('delta')
  const id = idOf(delta)
  expect((await ada.patch(`/api/issues/${id}`, { assignee_id: zoe.actor.userId })).status).toBe(200)
  await server.app.db.query(`update issues set assignee_team = '#Web' where id = $1`, [idOf((await found('beta'))[0])])
  const listed = async (query: string): Promise<string[]> =>
    (await ada.get(`/api/issues?${query}`)).as<List>().items.map(({ type }) => (type ?? '').replace('Error', ''))
  for (const q of ['assigned:"zoë ärger"', `assigned:${zoe.actor.userId}`, 'has:assigned -assigned:ME'])
    expect(await found(q), q).toEqual(['delta'])
  expect(await listed(`assignee_id=${zoe.actor.userId}`)).toEqual(['delta'])
  expect(await found('assigned:#web')).toEqual(['beta'])
  expect(await found('-assigned:[none, #WEB]')).toEqual(['alpha', 'delta'])
  await server.app.db.query('update users set disabled_at = now() where id = $1', [zoe.actor.userId])
  for (const q of ['assigned:none', '-has:assigned', '-assigned:*'])
    expect(await found(q), q).toEqual(['beta', 'delta', 'gamma'])
  expect((await listed('assignee_id=none')).toSorted()).toEqual(['beta', 'delta', 'gamma'])
  expect(await listed(`assignee_id=${zoe.actor.userId}`)).toEqual([])
  expect(await ada.get('/api/issues?q=assigned:zo%C3%AB%20')).toMatchObject({ status: 400 })
  expect((await ada.get(`/api/issues/${id}`)).body).toMatchObject({ assignee_id: null })
})

describe('words of any script', () => {
  const titles = {
    umlaut: 'Zahlung für Müller abgelehnt',
    decomposed: 'Cafe\u0301 re\u0301serve\u0301',
    turkish: 'İSTANBUL şubesi ISPARTA ısı',
    greek: 'ΟΔΟΣ σφάλμα',
    chinese: '結帳失敗:付款逾時 App崩潰log檔',
    japanese: 'チェックアウトに失敗しました',
    thai: 'การชำระเงินล้มเหลว',
    arabic: 'فشل الدفع في السلة',
    hindi: 'भुगतान विफल हुआ',
    emoji: 'rocket 🚀 crashed 👩‍💻 in 🇩🇪',
    names: 'NSURLSession raised IOException at HTTPServer.handleURLRequest',
    astral: '𠀀𠀁 𝒜lgebra',
  }

  beforeAll(async () => {
    const one = await aProject(ada, { name: 'Scripts' })
    for (const [name, title] of Object.entries(titles))
      await server.event({ project: one, error: name, exception: undefined, message: title, fingerprint: [name] })
  })

  test.each<[string, keyof typeof titles | null]>([
    ['müller', 'umlaut'],
    ['MU\u0308LLER', 'umlaut'],
    ['caf\u00e9', 'decomposed'],
    ['"réservé"', 'decomposed'],
    ['istanbul', 'turkish'],
    ['İstanbul', 'turkish'],
    ['ısparta', 'turkish'],
    ['ISI', 'turkish'],
    ['οδος', 'greek'],
    ['ΟΔΟΣ', 'greek'],
    ['失敗:付款', 'chinese'],
    ['"付款逾時"', 'chinese'],
    ['帳失', 'chinese'],
    ['帳', 'chinese'],
    ['款付', null],
    ['log檔', 'chinese'],
    ['"app崩潰" lo', 'chinese'],
    ['失敗しました', 'japanese'],
    ['アウト', 'japanese'],
    ['ล้มเหลว', 'thai'],
    ['الدفع', 'arabic'],
    ['विफल', 'hindi'],
    ['🚀', 'emoji'],
    ['crashed 👩‍💻', 'emoji'],
    ['🇩🇪', 'emoji'],
    ['🇫🇷', null],
    ['exception', 'names'],
    ['session handleurl', 'names'],
    ['url request', 'names'],
    ['server', 'names'],
    ['ioexc', 'names'],
    ['𠀁', 'astral'],
    ['𝒜lgebra', 'astral'],
  ])('%s', async (q, name) => {
    const { items } = await answerTo('/api/issues/search', `project:scripts ${q}`)
    expect(items.map(({ title }) => title)).toEqual(name === null ? [] : [titles[name]])
    const others = await answerTo('/api/issues/search', `project:scripts -(${q})`)
    expect(others.total).toBe(Object.keys(titles).length - items.length)
  })
})

test('a release is found with its package and without', async () => {
  const mobile = await aProject(ada, { name: 'Mobile' })
  for (const version of ['1.2.3+45', '1.2.4+46'])
    await server.event({ project: mobile, error: 'phone', release: `com.acme.shop@${version}` })
  await indexNewTerms(server.app)
  const within = (q: string) => found(`project:mobile ${q}`)
  for (const q of [
    'release:1.2.*',
    'release:1.2.3+45',
    'release:com.acme.shop@1.2.4*',
    'first_release:1.2.3*',
    'last_release:"1.2.4+46"',
  ])
    expect(await within(q), q).toEqual(['phone'])
  for (const q of ['release:1.2.3', 'release:acme*', 'first_release:1.2.4*', 'first_release:2.3+45'])
    expect(await within(q), q).toEqual([])
})

test('words of tags, of the first event too, and the title of a grouping rule are found', async () => {
  const named = await aProject(ada, { name: 'Named' })
  const rule = {
    match: [{ key: 'type', glob: 'omegaError' }],
    fingerprint: ['omega'],
    title: 'Zebra crossing',
  }
  const set = await ada.patch(`/api/projects/${named.id}/settings`, {
    grouping_rules: { fingerprint: [rule], stack: [] },
  })
  expect(set.status, set.text).toBe(200)
  await server.event({ project: named, error: 'omega', tags: { shelf: 'Upper left', order_id: '471108150815' } })
  for (const q of ['zebra', 'upper', '"left"', 'shelf:"upper left"', 'order_id:471108150815'])
    expect(await found(q), q).toEqual(['omega'])
  expect(await found('471108150815')).toEqual([])
})

describe('merging and unmerging', () => {
  const two = async (): Promise<[string, string]> => {
    await found('fork')
    return [idOf('forkOne'), idOf('forkTwo')]
  }

  test('lose no index terms, even after many further events', async () => {
    const forks = await aProject(ada, { name: 'Forks' })
    const send = (name: string, fields: Record<string, unknown>) =>
      sendEvent(server.url, forks.dsn, anEvent({ error: name, ...fields }))
    await send('forkOne', { release: '1.0', tags: { rare: 'first' }, timestamp: now - DAY })
    await send('forkTwo', { release: '1.1', tags: { other: 'second' }, timestamp: now - DAY })
    for (let i = 0; i < 60; i++) await send('forkOne', { release: '3.0', timestamp: now - 60 + i })
    await server.service.drain()
    await indexNewTerms(server.app)
    const [one, other] = await two()
    expect((await ada.post(`/api/issues/${one}/merge`, { issue_ids: [other] })).status).toBe(200)
    const finds = async (q: string) => (await answerTo('/api/issues/search', q)).items.map(({ id }) => id)
    const terms = ['rare:first', 'release:1.0', 'first_release:1.0', 'last_release:3.0']
    for (const q of [...terms, 'other:second', 'release:1.1', 'forkTwo']) expect(await finds(q), q).toEqual([one])
    await rebuildDocuments(server.app)
    for (const q of [...terms, 'other:second', 'release:1.1', 'forkTwo']) expect(await finds(q), q).toEqual([one])
    await send('forkTwo', { release: '1.1', tags: { late: 'third' }, timestamp: now })
    await server.service.drain()
    await indexNewTerms(server.app)
    expect(await finds('late:third')).toEqual([one])
    expect((await ada.post(`/api/issues/${one}/unmerge`, { issue_ids: [other] })).status).toBe(200)
    for (const turn of [1, 2]) {
      for (const q of terms) expect(await finds(q), `${q} ${turn}`).toEqual([one])
      for (const q of ['other:second', 'release:1.1', 'forkTwo'])
        expect(await finds(q), `${q} ${turn}`).toEqual([other])
      await rebuildDocuments(server.app)
    }
    // A term of the unmerged issue is new to the former target.
    expect(await finds('late:third')).toEqual([other])
    await send('forkOne', { release: '3.0', tags: { late: 'third' }, timestamp: now + 1 })
    await server.service.drain()
    await indexNewTerms(server.app)
    expect(await finds('late:third')).toHaveLength(2)
  })
})

describe('terms of later events', () => {
  const later = (fields: Record<string, unknown>) =>
    sendEvent(server.url, shop.dsn, anEvent({ error: 'later', ...fields }))

  test('are found after indexing, beside the earlier terms', async () => {
    await later({ tags: { colour: 'red' } })
    await server.service.drain()
    await later({ tags: { colour: 'blue' }, transaction: '/basket/confirmOrder', release: '7.0' })
    await later({ tags: { colour: 'blue' } })
    await server.service.drain()
    expect(await indexNewTerms(server.app)).toBe(1)
    expect(await indexNewTerms(server.app)).toBe(0)
    for (const q of ['colour:red', 'colour:blue', 'confirmorder', 'confirm order', 'release:7*', 'blue'])
      expect(await found(q), q).toEqual(['later'])
    // A known term is not written again.
    await later({ tags: { colour: 'blue' } })
    await server.service.drain()
    const { rows } = await server.app.db.query('select 1 from issue_new_terms')
    expect(rows).toEqual([])
  })

  test('are found for every event of a batch', async () => {
    const names = [
      'amber',
      'birch',
      'cedar',
      'daisy',
      'ember',
      'fjord',
      'grove',
      'heron',
      'islet',
      'jetty',
      'knoll',
      'lilac',
    ]
    for (const name of names)
      await later({
        message: `${name} went missing`,
        exception: undefined,
        fingerprint: ['later batch'],
        transaction: `/walk/${name}house`,
      })
    await server.service.drain()
    await indexNewTerms(server.app)
    const [first] = (await answerTo('/api/issues/search', 'missing')).items
    for (const name of names)
      for (const q of [name, `${name}house`, `transaction:/walk/${name}*`])
        expect(
          (await answerTo('/api/issues/search', q)).items.map(({ id }) => id),
          q,
        ).toEqual([first?.id])
    await ada.delete(`/api/issues/${first?.id}`)
  })

  test('are limited per key, and an overflow term is added', async () => {
    for (let i = 0; i < 70; i++) await later({ tags: { order: `o${i}` } })
    await server.service.drain()
    await indexNewTerms(server.app)
    const { rows } = await server.app.db.query<{ n: number; overflow: number }>(
      `select count(*) filter (where l like E'\\x1dorder\\x1f%')::int as n, count(*) filter (where l = E'\\x1fmore\\x1forder')::int as overflow
       from issue_search s, unnest(tsvector_to_array(s.document)) l where s.issue_id = $1`,
      [idOf('later')],
    )
    expect(rows).toEqual([{ n: 50, overflow: 1 }])
    expect(await found('order:o3')).toEqual(['later'])
  })

  test('are deleted with the issue', async () => {
    await ada.delete(`/api/issues/${idOf('later')}`)
    const { rows } = await server.app.db.query('select 1 from issue_search where issue_id = $1', [idOf('later')])
    expect(rows).toEqual([])
    expect(await found('colour:red')).toEqual([])
  })
})

test('a document is rebuilt from stored events', async () => {
  await server.app.db.query(
    `update issue_search set document = array_to_tsvector(array['nothing']), stale_since = now()`,
  )
  expect(await found('alpha')).toEqual([])
  expect(await rebuildDocuments(server.app)).toBeGreaterThan(3)
  expect(await rebuildDocuments(server.app)).toBe(0)
  for (const q of ['alpha', 'release:1.3.0', 'release:1.2.3', 'tenant:"north wind"'])
    expect(await found(q), q).toEqual(['alpha'])
})

test('rebuilding a document does not wait for the issue, which a merge locks before the document', async () => {
  const { app } = server
  const id = idOf('alpha')
  await app.db.query('update issue_search set stale_since = now() where issue_id = $1', [id])
  await app.tx(async (tx) => {
    await tx.query('select from issues where id = $1 for update', [id])
    expect(await rebuildDocuments(app)).toBe(1)
  })
})

test('terms that are erased while a document is rebuilt are not restored', async () => {
  const { app } = server
  const id = idOf('alpha')
  await app.db.query('update issue_search set stale_since = now() where issue_id = $1', [id])
  expect(await found('tenant:"north wind"')).toEqual(['alpha'])
  // Events are read without a lock: a user is erased before the document is locked.
  let erased = false
  const interrupted = interceptedApp(server, async (text, run) => {
    if (text === 'begin' && !erased) {
      erased = true
      await app.tx((tx) => resetDocument(tx, id, { texts: ['alphaError'], facts: [] }))
    }
    return run()
  })
  const rebuilt = await rebuildDocuments(interrupted)
  expect(erased).toBe(true)
  expect(await found('tenant:"north wind"')).toEqual([])
  expect(rebuilt).toBe(0)
  // The document is still stale.
  expect(await rebuildDocuments(app)).toBe(1)
  expect(await found('tenant:"north wind"')).toEqual(['alpha'])
})

test('a document with events in a store that is away keeps its terms, and is rebuilt when the store is back', async () => {
  const { app } = server
  const id = idOf('alpha')
  const { rows } = await app.db.query<{ event_id: string; body: Buffer }>(
    'select event_id, body from events where issue_id = $1 order by occurred_at limit 1',
    [id],
  )
  const [oldest] = rows
  // As after moving: no pool of this server knows a store.
  await app.db.query(
    `insert into event_blocks (received_day, block_id, segment_id, segment_start, segment_end)
     select received_day, 900000, gen_random_uuid(), 0, 1 from events where event_id = $1`,
    [oldest?.event_id],
  )
  await app.db.query('update events set body = null, block_id = 900000 where event_id = $1', [oldest?.event_id])
  await app.tx((tx) => resetDocument(tx, id, { texts: ['alphaError'], facts: [] }))
  expect(await rebuildDocuments(app)).toBe(0)
  expect(await found('release:1.3.0'), 'the other event can be read').toEqual(['alpha'])
  expect(await found('tenant:"north wind"')).toEqual([])
  await app.db.query('update events set body = $2, block_id = null where event_id = $1', [
    oldest?.event_id,
    oldest?.body,
  ])
  expect(await rebuildDocuments(app)).toBe(1)
  expect(await found('tenant:"north wind"')).toEqual(['alpha'])
})
