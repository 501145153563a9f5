import { describe, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../platform/kernel/day.ts'
import { testServer } from '#test/kit/test-server.ts'
import { answerQuestion } from './answer-question.ts'
import type { AnswerSource } from './ask.api.ts'
import { FigureCheck } from './cite-figures.ts'
import { understand } from './understand.ts'
import { count, percent } from './question.ts'
import { NOW, seedWorld, type Run, type Sent } from './world.fixture.ts'

/**
 * The built-in analyst: questions in varied words, each with its kind, its scope and the figures that its answer must have.
 * Figures are counted again, from the tables of events and issues or from what was sent.
 */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const w = await seedWorld(t)

type Answered = { readonly text: string; readonly sources: readonly AnswerSource[] }

async function ask(...questions: readonly string[]): Promise<Answered> {
  let text = ''
  const sources: AnswerSource[] = []
  const messages = questions.flatMap((content, index) => [
    ...(index === 0 ? [] : [{ role: 'assistant' as const, content: 'An answer.' }]),
    { role: 'user' as const, content },
  ])
  await answerQuestion(
    t.app,
    w.actor,
    { messages },
    {
      signal: new AbortController().signal,
      emit(event) {
        if ('delta' in event) text += event.delta
        else if ('source' in event) sources.push(event.source)
        else throw new Error(event.error)
      },
    },
  )
  return { text, sources }
}

/** A figure as it is written, or a duration within 2 %. */
type Figure = string | { readonly nearMs: number }
type Expected = { readonly figures: readonly Figure[]; /** Part of the title of a source. */ readonly scope?: string }
type Case = readonly [question: string, expected: () => Expected | Promise<Expected>]

const MS = /(\d[\d,.]*) (ms|s) \[\d+\]/g
const durations = (text: string): number[] =>
  [...text.matchAll(MS)].map(([, value = '', unit]) => Number(value.replaceAll(',', '')) * (unit === 's' ? 1_000 : 1))

/** The text has the figure with the number of a source that holds it. */
function expectFigure({ text, sources }: Answered, figure: Figure): void {
  if (typeof figure !== 'string') {
    const found = durations(text).some((ms) => Math.abs(ms - figure.nearMs) <= figure.nearMs * 0.02)
    expect(found, `about ${figure.nearMs} ms in:\n${text}`).toBe(true)
    return
  }
  const escaped = figure.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const cited = [...text.matchAll(new RegExp(`(?<![\\d.,])${escaped} \\[(\\d+)\\]`, 'g'))].map(([, n]) => Number(n))
  expect(cited.length, `${figure} in:\n${text}`).toBeGreaterThan(0)
  for (const n of cited) {
    const cells = sources[n - 1]?.rows.flat() ?? []
    expect(
      cells.some((cell) => cell === figure || cell.includes(figure)),
      `${figure} in source ${n}`,
    ).toBe(true)
  }
}

const one = async (sql: string, ...values: readonly unknown[]): Promise<number> =>
  Number((await t.app.db.query<{ n: string }>(`select (${sql}) as n`, values)).rows[0]?.n)

const day = (of: number, hour = 0): Date => new Date(Date.UTC(2026, 10, of, hour))
const FAR = day(30)
const ago = (ms: number): Date => new Date(NOW.getTime() - ms)
const WEEK = ago(7 * DAY_MS)
const both = [w.shop.id, w.kiosk.id]
const idsOf = (projectId: string | undefined): string[] => (projectId === undefined ? both : [projectId])

const figures = (...of: readonly (number | Figure)[]): Expected => ({
  figures: of.map((figure) => (typeof figure === 'number' ? count(figure) : figure)),
})
const scoped = (scope: string, expected: Expected): Expected => ({ ...expected, scope })

const newIssues = async (from: Date, projectId?: string, to = FAR) =>
  figures(
    await one(
      'select count(*) from issues where first_seen >= $1 and first_seen < $2 and project_id = any($3)',
      from,
      to,
      idsOf(projectId),
    ),
  )
const newIn = async (release: string) =>
  figures(await one('select count(*) from issues where first_release = $1', release))
const regressed = async (from: Date, to = FAR) =>
  figures(
    await one(
      `select count(*) from issues where status = 'regressed' and status_changed_at >= $1 and status_changed_at < $2`,
      from,
      to,
    ),
  )
/** Events and users of the issue with most users, or most events. */
async function worst(
  by: 'users' | 'events',
  from: Date,
  where: string,
  ...values: readonly unknown[]
): Promise<Expected> {
  const { rows } = await t.app.db.query<{ events: number; users: number }>(
    `select count(*)::int as events, count(distinct e.user_hash)::int as users
     from events e join issues i on i.id = e.issue_id
     where e.occurred_at >= $1 and i.status in ('unresolved', 'regressed', 'escalated') and ${where}
     group by i.id order by ${by} desc limit 1`,
    [from, ...values],
  )
  return figures(rows[0]?.events ?? 0, rows[0]?.users ?? 0)
}
const usersOf = async (issueId: string) =>
  figures(
    await one('select count(distinct user_hash) from events where issue_id = $1', issueId),
    await one('select count(*) from events where issue_id = $1', issueId),
  )
const openIssues = async (where = 'true') =>
  figures(
    await one(`select count(*) from issues where status in ('unresolved', 'regressed', 'escalated') and ${where}`),
  )
const events = async (from: Date, to = FAR, where = 'true', projectId?: string) =>
  one(
    `select count(*) from events e join issues i on i.id = e.issue_id where e.occurred_at >= $1 and e.occurred_at < $2 and e.project_id = any($3) and ${where}`,
    from,
    to,
    idsOf(projectId),
  )
const issuesOfUser = (id: string, from = day(1)): Expected => {
  const of = w.sent.filter(({ event, at }) => JSON.stringify(event['user']).includes(`"${id}"`) && at >= from)
  return figures(new Set(of.map(({ project, event }) => `${project} ${nameOf(event)}`)).size)
}
const nameOf = (event: Sent['event']): string =>
  event.error === undefined ? 'anr' : typeof event.error === 'string' ? event.error : (event.error.in ?? '')

/** Counts sessions that were sent. */
function sessions(is: (run: Run) => boolean): { all: number; crashed: number; rate: string; crashRate: string } {
  const of = w.runs.filter(is)
  const all = of.reduce((sum, run) => sum + run.sessions, 0)
  const crashed = of.reduce((sum, run) => sum + run.crashed, 0)
  return { all, crashed, rate: percent(1 - crashed / all), crashRate: percent(crashed / all) }
}
const crashFree = (from: Date, is: (run: Run) => boolean = () => true, to = FAR): Expected => {
  const { all, crashed, rate } = sessions((run) => run.at >= from && run.at < to && is(run))
  return figures(rate, crashed, all)
}
const byRelease = (release: string) => (run: Run) => run.release === release
const inProject = (project: Run['project']) => (run: Run) => run.project === project
const shareToday = (release: string, project: Run['project'] = 'shop'): string => {
  const today = sessions((run) => run.project === project && run.at >= ago(DAY_MS)).all
  return percent(sessions((run) => run.release === release && run.at >= ago(DAY_MS)).all / today)
}
const health = (release: string): Expected => {
  const { all, rate } = sessions(byRelease(release))
  return figures(rate, all)
}
const quantile = (values: readonly number[], q: number): Figure => {
  const sorted = values.toSorted((a, b) => a - b)
  return { nearMs: sorted[Math.ceil(q * sorted.length) - 1] ?? 0 }
}
const starts = (from: Date, release?: string): Expected => {
  const of = w.starts.filter((start) => start.at >= from && (release === undefined || start.release === release))
  const values = of.map(({ ms }) => ms)
  return figures(of.length, quantile(values, 0.5), quantile(values, 0.75), quantile(values, 0.95))
}
const screen = (name: string, from = WEEK): Expected => {
  const values = w.loads.filter((load) => load.screen === name && load.at >= from).map(({ ms }) => ms)
  return figures(quantile(values, 0.95))
}

const { alpha, beta, gamma, delta } = w.issues

/** By the kind of question that each must be understood as. */
const QUESTIONS: Readonly<Record<string, readonly Case[]>> = {
  new_issues: [
    ['What is new?', () => newIssues(WEEK)],
    ['Which issues are new?', () => newIssues(WEEK)],
    ['Show me new bugs from the last 7 days', () => newIssues(WEEK)],
    ['any new crashes in the past week', () => newIssues(WEEK)],
    ['what’s new since tuesday', async () => scoped('since Tuesday 17 November 2026', await newIssues(day(17)))],
    ['New issues since Wednesday?', async () => scoped('since Wednesday 18 November 2026', await newIssues(day(18)))],
    ['What new errors appeared today?', async () => scoped('since Friday 20 November 2026', await newIssues(day(20)))],
    [
      'Which issues were first seen yesterday?',
      async () => scoped('on Thursday 19 November 2026', await newIssues(day(19), undefined, day(20))),
    ],
    ['what problems started happening in the last 24 hours', () => newIssues(ago(DAY_MS))],
    ['Were there never seen errors in the last 2 days?', () => newIssues(ago(2 * DAY_MS))],
    ['New issues in Kiosk since 18 November', async () => scoped('of Kiosk', await newIssues(day(18), w.kiosk.id))],
    ['What is new in Shop this week?', async () => scoped('of Shop', await newIssues(day(16), w.shop.id))],
    [
      'anything new on iOS in the last three days?',
      async () => scoped('on iOS', await newIssues(ago(3 * DAY_MS), w.kiosk.id)),
    ],
    ['Which issues did 4.12 introduce?', () => newIn('shop@4.12.0')],
    ['What new bugs came in with shop@4.12.0?', () => newIn('shop@4.12.0')],
    ['New issues in release 4.11', () => newIn('shop@4.11.0')],
  ],
  regressions: [
    ['What regressed since Tuesday?', async () => scoped('since Tuesday', await regressed(day(17)))],
    ['Which bugs came back this week?', () => regressed(day(16))],
    ['regresions since tuesday', () => regressed(day(17))],
    ['Did any resolved issues return in the last 3 days?', () => regressed(ago(3 * DAY_MS))],
    ['which errors reappeared yesterday', () => regressed(day(19), day(20))],
    ['Anything reopened today?', () => regressed(day(20))],
    ['regressions in the last 24h', () => regressed(ago(DAY_MS))],
    ['What regressed in 4.12?', () => figures(1)],
  ],
  worst_issues: [
    ['Which issues hurt most users?', () => worst('users', WEEK, 'true')],
    ['What are the worst issues?', () => worst('users', WEEK, 'true')],
    ['top 3 problems this week', () => worst('users', day(16), 'true')],
    ['What should we fix first?', () => worst('users', WEEK, 'true')],
    [
      'issues affecting more than 5 users',
      async () => scoped('users:>5', await worst('users', WEEK, 'i.user_count > 5')),
    ],
    ['the two worst bugs', () => worst('users', WEEK, 'true')],
    ['TypeErrors this week', () => ({ figures: [] })],
    ['biggest bugs of Kiosk', () => worst('users', WEEK, 'i.project_id = $2', w.kiosk.id)],
    ['Most frequent errors in the last 24 hours', () => worst('events', ago(DAY_MS), 'true')],
    ['Which errors occur most often since Wednesday?', () => worst('events', day(18), 'true')],
    ['show me the top crashes since Monday', () => worst('users', day(16), 'i.is_unhandled')],
    ['main issues on iOS', () => worst('users', WEEK, 'i.project_id = $2', w.kiosk.id)],
    ['What is crashing in Shop?', () => worst('users', WEEK, 'i.project_id = $2 and i.is_unhandled', w.shop.id)],
    [
      'Top crashes of 4.12',
      () =>
        worst(
          'users',
          WEEK,
          `i.is_unhandled and exists (select from events r where r.issue_id = i.id and r.release = 'shop@4.12.0')`,
        ),
    ],
    ['crashes android 4.12 yesterday', () => worst('users', day(19), 'i.is_unhandled and e.occurred_at < $2', day(20))],
    ['what broke yesterday', () => worst('users', day(19), 'e.occurred_at < $2', day(20))],
    ['what broke last night', () => figures()],
    ['what should I look at first', () => worst('users', WEEK, 'true')],
    ['which bugs affect the most people', () => worst('users', WEEK, 'true')],
  ],
  open_issues: [
    ['How many open issues are there?', () => openIssues()],
    ['oldest open issues', () => openIssues()],
    ['List unresolved issues', () => openIssues()],
    ['how many critical issues are open', () => openIssues('severity = 3')],
    [
      'Which issues are resolved?',
      async () => figures(await one(`select count(*) from issues where status = 'resolved'`)),
    ],
    ['What is assigned to me?', () => openIssues(`assignee_id = '${w.actor.userId}'`)],
    [
      'How many issues in Shop are unassigned?',
      () => openIssues(`project_id = '${w.shop.id}' and assignee_id is null`),
    ],
    [
      'are there escalated issues',
      async () => figures(await one(`select count(*) from issues where status = 'escalated'`)),
    ],
  ],
  issue_users: [
    [`Who is affected by ${alpha.short_id}?`, () => usersOf(alpha.id)],
    [`How many users does ${beta.short_id} hit?`, () => usersOf(beta.id)],
    [`which customers see ${delta.short_id.toLowerCase()}`, () => usersOf(delta.id)],
    [`What is the impact of ${gamma.short_id}?`, () => usersOf(gamma.id)],
    [`who has problem ${alpha.id}`, () => usersOf(alpha.id)],
  ],
  issue: [
    [
      `What is ${alpha.short_id}?`,
      async () => figures(await one('select count(*) from events where issue_id = $1', alpha.id)),
    ],
    [
      `Tell me about ${beta.short_id}`,
      async () => figures(await one('select count(*) from events where issue_id = $1', beta.id)),
    ],
    [
      `When was ${gamma.short_id} first seen?`,
      async () => figures(await one('select count(*) from events where issue_id = $1', gamma.id)),
    ],
    [
      `who is assigned to ${delta.short_id}`,
      async () => figures(await one('select count(*) from events where issue_id = $1', delta.id)),
    ],
    [
      `status of ${delta.short_id}`,
      async () => figures(await one('select count(*) from events where issue_id = $1', delta.id)),
    ],
  ],
  user_issues: [
    ['What happened to user 17?', () => issuesOfUser('17')],
    ['Which issues did user 7 meet?', () => issuesOfUser('7')],
    ['errors for user 1 since Thursday', async () => scoped('since Thursday', issuesOfUser('1', day(19)))],
    ['Problems of customer 18', () => issuesOfUser('18')],
    ['show what user id 4 had', () => issuesOfUser('4')],
    ['What went wrong for kim17@example.com?', () => figures(1)],
  ],
  crash_free: [
    ['How did the crash-free rate develop?', () => crashFree(WEEK)],
    ['What is our crash rate?', () => crashFree(WEEK)],
    ['crash-free sessions since Tuesday', async () => scoped('since Tuesday', crashFree(day(17)))],
    ['crash free rate of Shop yesterday', () => crashFree(day(19), inProject('shop'), day(20))],
    ['How stable is Kiosk?', () => crashFree(WEEK, inProject('kiosk'))],
    ['what share of sessions crashed in the last 24 hours', () => crashFree(ago(DAY_MS))],
    ['What is the crash rate of 4.12?', () => crashFree(WEEK, byRelease('shop@4.12.0'))],
    ['crash-free users of Shop', () => scoped('Crash-free users of Shop', figures(percent(0)))],
    ['show crash fre rate', () => crashFree(WEEK)],
    ['is it getting worse', () => crashFree(WEEK)],
    ['How often does 4.11 crash?', () => crashFree(WEEK, byRelease('shop@4.11.0'))],
    ['crash-free trend over the last 30 days', () => crashFree(ago(30 * DAY_MS))],
    ['How many sessions crashed on Wednesday?', () => crashFree(day(18), undefined, day(19))],
    ['crash rate of 4.12 since Thursday', () => crashFree(day(19), byRelease('shop@4.12.0'))],
    ['stability of Shop this week', () => crashFree(day(16), inProject('shop'))],
    ['crash rate since 16 November', () => crashFree(day(16))],
  ],
  breakdown: [
    [
      'Which devices crash most?',
      () => figures(sessions(({ did }) => did === '2').crashRate, sessions(({ did }) => did === '1').crashRate),
    ],
    ['worst phones of Shop', () => figures(sessions(({ did }) => did === '2').crashRate)],
    ['crash rate by device model', () => figures(sessions(({ did }) => did === '1').crashRate)],
    ['crash rate by version', () => figures(sessions((run) => run.release === 'shop@4.12.0').crashRate)],
    ['Which release crashes most in Kiosk?', () => figures(sessions(byRelease('kiosk@2.0.0')).crashRate)],
    ['Crash rate by operating system', () => figures(sessions(({ did }) => did !== undefined).crashRate)],
    ['How do Android and iOS compare?', () => figures(sessions(({ did }) => did !== undefined).crashRate)],
    ['compare android with ios', () => figures(sessions(({ did }) => did !== undefined).crashRate)],
    [
      'compare staging and production',
      () => figures(sessions((run) => run.project === 'shop' && run.at >= WEEK).crashRate),
    ],
    [
      'crashes per environment in the last 24 hours',
      () => figures(sessions((run) => run.project === 'shop' && run.at >= ago(DAY_MS)).crashRate),
    ],
  ],
  compare_releases: [
    [
      'Compare 4.12 with 4.11',
      () => figures(sessions(byRelease('shop@4.12.0')).rate, sessions(byRelease('shop@4.11.0')).rate),
    ],
    [
      'Is 4.12 better than 4.11?',
      () => figures(sessions(byRelease('shop@4.12.0')).all, sessions(byRelease('shop@4.11.0')).all),
    ],
    ['4.11 vs 4.10', () => figures(sessions(byRelease('shop@4.11.0')).rate, sessions(byRelease('shop@4.10.0')).rate)],
    [
      'difference between shop@4.11.0 and shop@4.12.0',
      () => figures(sessions(byRelease('shop@4.12.0')).rate, sessions(byRelease('shop@4.11.0')).rate),
    ],
    [
      'How does the latest release of Shop compare with the previous one?',
      () => figures(sessions(byRelease('shop@4.12.0')).rate, sessions(byRelease('shop@4.11.0')).rate),
    ],
    [
      'did it get worse after the deploy of Shop',
      () => figures(sessions(byRelease('shop@4.12.0')).rate, sessions(byRelease('shop@4.11.0')).rate),
    ],
    [
      'is kiosk 2.0.0 worse than 1.9.0',
      () => figures(sessions(byRelease('kiosk@2.0.0')).rate, sessions(byRelease('kiosk@1.9.0')).rate),
    ],
  ],
  release_health: [
    ['Is 4.12 healthy?', () => health('shop@4.12.0')],
    ['Should the rollout of 4.12 go on?', () => health('shop@4.12.0')],
    ['can we ship 4.12 to everyone', () => health('shop@4.12.0')],
    ['Is it safe to continue rolling out shop@4.12.0?', () => health('shop@4.12.0')],
    ['How is 4.11 doing?', () => health('shop@4.11.0')],
    ['should we roll back the latest version of Shop?', () => health('shop@4.12.0')],
    ['did the last deploy of Shop break anything', () => health('shop@4.12.0')],
    ['Verdict of kiosk@2.0.0', () => health('kiosk@2.0.0')],
  ],
  adoption: [
    ['What is the adoption of 4.12?', () => figures(shareToday('shop@4.12.0'))],
    ['How many people are on 4.12?', () => figures(shareToday('shop@4.12.0'))],
    ['Who has updated to the latest version of Shop?', () => figures(shareToday('shop@4.12.0'))],
    ['how many users still use 4.11', () => figures(shareToday('shop@4.11.0'))],
    ['adoption of releases', () => figures(shareToday('shop@4.11.0'), shareToday('kiosk@2.0.0', 'kiosk'))],
    ['adpotion of 4.12', () => figures(shareToday('shop@4.12.0'))],
    ['uptake of shop@4.12.0', () => figures(shareToday('shop@4.12.0'))],
  ],
  starts: [
    ['How slow are cold starts?', () => starts(WEEK)],
    [
      'cold start time compared with 4.11',
      () => ({ figures: [...starts(WEEK, 'shop@4.11.0').figures, ...starts(WEEK, 'shop@4.12.0').figures] }),
    ],
    ['how long does the app take to start', () => starts(WEEK)],
    ['app start p95 of 4.12', () => starts(WEEK, 'shop@4.12.0')],
    ['is the app starting slower than before', () => starts(WEEK)],
    ['launch time in the last 24 hours', () => figures(4)],
  ],
  screens: [
    ['What are the slowest screens?', () => screen('CheckoutScreen')],
    ['Which screens load slowly?', () => screen('CheckoutScreen')],
    ['how fast is checkout', () => screen('CheckoutScreen')],
    ['how fast is the checkout screen', () => screen('CheckoutScreen')],
    ['render time of the search page since Tuesday', () => screen('SearchScreen')],
    ['fastest screens', () => screen('SearchScreen')],
  ],
  transactions: [
    ['Which endpoints fail most?', () => figures(1, 4)],
    ['slowest transactions', () => figures({ nearMs: 2_000 })],
  ],
  anrs: [
    ['How many ANRs?', () => figures(1)],
    ['what causes ANRs', () => figures(1)],
    ['Does the app hang?', () => figures(1)],
    ['ANRs of 4.12', () => figures(1)],
  ],
  releases: [
    [
      'list releases',
      async () => figures(await one(`select count(*) from issues where first_release = 'shop@4.12.0'`)),
    ],
    ['when did we ship 4.12', async () => scoped('Releases', await newIn('shop@4.12.0'))],
    ['which release broke beta', async () => scoped('name beta', figures(1, ...(await newIn('shop@4.12.0')).figures))],
  ],
  frames: [
    ['How many frames are frozen?', () => figures('1.00 %', '5.00 %')],
    ['is scrolling smooth or is there jank', () => figures('5.00 %')],
  ],
  spike: [
    ['What changed before the spike?', () => peak()],
    ['Why did errors jump yesterday?', () => peak()],
    ['was there a sudden increase in crashes this week', () => peak()],
    ['What happened at the peak?', () => peak()],
  ],
  alerts: [
    ['Which alerts fired today?', () => fired(day(20))],
    ['did any alert fire this week', () => fired(day(16))],
    [
      'What alerts are firing?',
      async () => figures(await one(`select count(*) from fired_alerts where state = 'firing'`)),
    ],
    ['were we paged yesterday', () => fired(day(19), day(20))],
  ],
  volume: [
    ['How many errors today?', async () => figures(await events(day(20)))],
    ['How many events since Tuesday?', async () => figures(await events(day(17)))],
    [
      'number of crashes in the last 24 hours',
      async () => figures(await events(ago(DAY_MS), FAR, `(e.level = 'fatal' or i.is_unhandled)`)),
    ],
    ['error count of Kiosk this week', async () => figures(await events(day(16), FAR, 'true', w.kiosk.id))],
    [
      'How many errors last week?',
      async () => scoped('from Monday 9 November', figures(await events(day(9), day(16)))),
    ],
    ['errors between 11 and 13 Nov, how many events', async () => figures(await events(day(11), day(14)))],
    ['how many errors the day before yesterday', async () => figures(await events(day(18), day(19)))],
    ['how many errors over the weekend', async () => figures(await events(day(14), day(16)))],
    ['how many errors in the past fortnight', async () => figures(await events(ago(14 * DAY_MS)))],
    ['how many errors month to date', async () => figures(await events(day(1)))],
    ['how many errors this quarter', async () => figures(await events(day(1)))],
    ['how many errors in Q3', () => scoped('from Friday 3 July 2026', figures(0))],
    ['how many errors since 9am', async () => figures(await events(day(20, 9)))],
    ['how many errors this morning', async () => figures(await events(day(20), day(20, 12)))],
    ['errors per day', async () => figures(await events(WEEK), await events(day(18), day(19)))],
    [
      'chart crashes per day since Wednesday',
      async () => figures(await events(day(19), day(20), `(e.level = 'fatal' or i.is_unhandled)`)),
    ],
    ['errors per hour today', async () => figures(await events(day(20, 9), day(20, 10)))],
    ['errors this week vs last week', async () => figures(await events(day(16)), await events(day(9), day(16)))],
    ['compare this week with last week', async () => figures(await events(day(16)), await events(day(9), day(16)))],
    ['how many errors last night', async () => figures(await events(day(19, 18), day(20, 6)))],
    [
      'how many crsahes yesterday',
      async () => figures(await events(day(19), day(20), `(e.level = 'fatal' or i.is_unhandled)`)),
    ],
    [
      'how many errors in issues with more than 5 users',
      async () => figures(await events(WEEK, FAR, 'i.user_count > 5')),
    ],
    ['how many exceptions on Wednesday', async () => figures(await events(day(18), day(19)))],
    [
      'total number of errors in Shop in the last 3 days',
      async () => figures(await events(ago(3 * DAY_MS), FAR, 'true', w.shop.id)),
    ],
  ],
  affected_users: [
    ['How many users were affected?', () => affected(WEEK, w.shop.id)],
    ['How many users of Kiosk had errors in the last 24 hours?', () => affected(ago(DAY_MS), w.kiosk.id)],
    ['number of affected customers in Shop', () => affected(WEEK, w.shop.id)],
  ],
  overview: [
    ['How are we doing?', async () => figures(await events(WEEK), ...(await openIssues()).figures)],
    ['Give me an overview of Shop', async () => figures(await events(WEEK, FAR, 'true', w.shop.id))],
    ['summary of the last 24 hours', async () => figures(await events(ago(DAY_MS)))],
    ['What is going on?', async () => figures(await events(WEEK))],
  ],
  intake: [
    ['Are we losing events?', async () => figures(await events(WEEK))],
    ['how much of our quota is used', async () => figures(await events(WEEK))],
  ],
  store_guard: [['Will the Play Store flag us?', () => figures(0)]],
}

async function peak(): Promise<Expected> {
  return figures(
    await one(`select max(n) from (select count(*) as n from events group by date_trunc('hour', occurred_at)) hours`),
  )
}
const fired = async (from: Date, to = FAR): Promise<Expected> =>
  figures(await one('select count(*) from fired_alerts where fired_at >= $1 and fired_at < $2', from, to))
const affected = async (from: Date, projectId: string): Promise<Expected> =>
  figures(
    await one(
      'select count(distinct user_hash) from events where occurred_at >= $1 and project_id = $2',
      from,
      projectId,
    ),
  )

const all = Object.entries(QUESTIONS).flatMap(([kind, cases]) =>
  cases.map(([question, expected]) => ({ kind, question, expected })),
)

test('there are enough of them', () => expect(all.length).toBeGreaterThanOrEqual(120))

describe('a question is understood and answered with figures that its sources hold', () => {
  test.each(all)('$kind: $question', async ({ kind, question, expected }) => {
    expect(understand([question], NOW).intent?.name).toBe(kind)
    const answer = await ask(question)
    const { figures: wanted, scope } = await expected()
    for (const figure of wanted) expectFigure(answer, figure)
    if (scope !== undefined) expect(answer.sources.map(({ title }) => title).join('\n')).toContain(scope)
    // Every figure of it stands in the source that it names.
    let checked = ''
    const check = new FigureCheck(answer.sources, (text) => void (checked += text))
    check.take(answer.text)
    check.end()
    expect(checked).toBe(answer.text)
  })
})

describe('a question that continues another takes its scope', () => {
  test.each<readonly [readonly string[], string, string, () => Expected | Promise<Expected>]>([
    [['What is our crash rate?', 'and of Kiosk?'], 'crash_free', 'of Kiosk', () => crashFree(WEEK, inProject('kiosk'))],
    [
      ['What is our crash rate since Tuesday?', 'and of 4.12?'],
      'crash_free',
      'shop@4.12.0 since Tuesday',
      () => crashFree(day(17), byRelease('shop@4.12.0')),
    ],
    [['What is new?', 'What about since Wednesday?'], 'new_issues', 'since Wednesday', () => newIssues(day(18))],
    [
      ['Which issues hurt most users since Monday?', 'and on iOS?'],
      'worst_issues',
      'on iOS with most users since Monday',
      () => worst('users', day(16), 'i.project_id = $2', w.kiosk.id),
    ],
    [[`What is ${alpha.short_id}?`, 'Who is affected by it?'], 'issue_users', alpha.short_id, () => usersOf(alpha.id)],
    [['Is 4.12 healthy?', 'what is its adoption?'], 'adoption', 'Adoption', () => figures(shareToday('shop@4.12.0'))],
    [
      ['Compare 4.12 with 4.11', 'And 4.11 with 4.10?'],
      'compare_releases',
      'shop@4.11.0 and shop@4.10.0',
      () => figures(sessions(byRelease('shop@4.10.0')).rate),
    ],
    [
      [`Who is affected by ${alpha.short_id}?`, `and ${delta.short_id}?`],
      'issue_users',
      delta.short_id,
      () => usersOf(delta.id),
    ],
  ])('%j', async (questions, kind, scope, expected) => {
    expect(understand(questions, NOW).intent?.name).toBe(kind)
    const answer = await ask(...questions)
    expect(answer.sources.map(({ title }) => title).join('\n')).toContain(scope)
    for (const figure of (await expected()).figures) expectFigure(answer, figure)
  })
})

test.each([
  'What is the meaning of life?',
  'hello',
  'Write me a poem about the sea',
  'DROP TABLE users',
  'crashes not in staging',
  'errors excluding iOS',
  'errors by level',
  'releases with a crash rate above 2%',
  'crashes by country',
  'top users by crashes',
  'adoption of releases with more than 5 users',
  '🐙',
])('%s is not understood: the answer says so, with three questions that are', async (question) => {
  expect(understand([question], NOW).intent).toBeNull()
  const { text, sources } = await ask(question)
  expect(text).toContain('did not understand')
  expect(sources).toEqual([])
  const offered = text.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []))
  expect(offered.length).toBe(3)
  for (const other of offered) {
    expect(understand([other], NOW).intent, other).not.toBeNull()
    expect((await ask(other)).sources.length, other).toBeGreaterThan(0)
  }
})

test('the first words come within 300 ms of processor time', async () => {
  const before = process.cpuUsage()
  let firstMs: number | null = null
  await answerQuestion(
    t.app,
    w.actor,
    { messages: [{ role: 'user', content: 'How are we doing?' }] },
    {
      signal: new AbortController().signal,
      emit() {
        const { user, system } = process.cpuUsage(before)
        firstMs ??= (user + system) / 1_000
      },
    },
  )
  expect(firstMs).toBeLessThan(300)
})

test('an answer of another time than the one that was asked for says which it is', async () => {
  expect((await ask('slowest screens yesterday')).text).toContain('they are those in the last 7 days')
  expect((await ask('Is 4.12 healthy this week?')).text).toContain('they are those in the last 30 days')
  expect((await ask('oldest open issues')).text).toContain(', the oldest first:')
  expect((await ask('crash rate yesterday')).text).not.toContain('they are those')
})

test('figures say which release they are of, and which filter they cannot keep to', async () => {
  const { text } = await ask('slowest screens on Pixel 7')
  expect(text).toContain('Screens are not counted by device, so these are those of all devices.')
  expect(text).not.toMatch(/screens of [^:]*Pixel/)
  expect((await ask('slowest transactions of 4.12')).text).toMatch(/^Transactions of \S*4\.12\S* /m)
  expect((await ask('slowest transactions of 9.9.9')).text).toBe('There is no release 9.9.9 here.')
})

test('a period is as long as it says', () => {
  const askedPeriod = (text: string) => understand([text], NOW).question.period
  expect(askedPeriod('errors in the last 3 hours')?.from).toEqual(ago(3 * HOUR_MS))
  expect(askedPeriod('errors since two days ago')?.from).toEqual(day(18))
  expect(askedPeriod('errors last week')).toMatchObject({ from: day(9), to: day(16) })
  expect(askedPeriod('errors in the last week')?.from).toEqual(WEEK)
  expect(askedPeriod('errors of user 2015, may it be')).toBeNull()
  expect(askedPeriod('errors since Nov 3')?.from).toEqual(day(3))
  expect(askedPeriod('errors since 2026-11-05')?.from).toEqual(day(5))
  expect(askedPeriod('errors on Friday')?.from).toEqual(day(20))
  expect(askedPeriod('errors on Thursday')).toMatchObject({ from: day(19), to: day(20) })
  expect(askedPeriod('errors since Friday')?.from).toEqual(day(20))
  expect(askedPeriod('errors this month')?.from).toEqual(day(1))
  expect(askedPeriod('errors of release 4.12')).toBeNull()
})
