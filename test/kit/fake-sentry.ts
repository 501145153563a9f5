import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * The web API of Sentry as https://docs.sentry.io/api/ describes it, as far as an import reads it: bearer tokens, pages by
 * the header `Link`, `X-Hits`, limits of the rate.
 */

export type SourceIssueSeed = {
  readonly id: string
  readonly title: string
  readonly count: number
  readonly userCount: number
  readonly status?: 'resolved' | 'unresolved' | 'ignored'
  readonly substatus?: string
  readonly statusDetails?: Readonly<Record<string, unknown>>
  readonly assignee?: { readonly name: string; readonly email: string }
  /** How many events it still has. */
  readonly events?: number
  readonly comments?: readonly {
    readonly id: string
    readonly text: string
    readonly email: string
    readonly name: string
  }[]
  readonly daysAgo?: number
}

export type SourceProjectSeed = {
  readonly id: string
  readonly slug: string
  readonly platform: string
  readonly publicKey: string
  readonly issues: readonly SourceIssueSeed[]
}

export type FakeSentry = {
  readonly url: string
  readonly token: string
  /** Requests so far, as method and path without query. */
  readonly requests: string[]
  /** Answers the next requests with a status, with `Retry-After` for 429. */
  failNext(status: number, times: number): void
  /** From now on the token is refused. */
  revoke(): void
  /** Called before each answer. */
  onRequest(listener: (path: string) => void): void
  close(): Promise<void>
}

export const SOURCE_ORG = 'meadowlark'

export async function fakeSentry(
  now: Date,
  projects: readonly SourceProjectSeed[],
  extras: {
    readonly members?: readonly { readonly email: string; readonly name: string; readonly orgRole: string }[]
    readonly releases?: readonly { readonly version: string; readonly commits: readonly Record<string, unknown>[] }[]
    readonly rules?: readonly Record<string, unknown>[]
    /** How long each answer takes. */
    readonly latencyMs?: number
  } = {},
): Promise<FakeSentry> {
  const token = 'sntryu_canary-import-token-7731'
  let isRevoked = false
  let failing: { status: number; times: number } | null = null
  const listeners: ((path: string) => void)[] = []
  const requests: string[] = []
  const issuesById = new Map(projects.flatMap(({ issues }) => issues.map((issue) => [issue.id, issue] as const)))
  const iso = (daysAgo: number): string => new Date(now.getTime() - daysAgo * 86_400_000).toISOString()

  const viewIssue = (issue: SourceIssueSeed) => ({
    id: issue.id,
    shortId: `SHOP-${issue.id}`,
    title: `TypeError: ${issue.title}`,
    culprit: `checkout(cart-${wordOf(issue.id)})`,
    level: 'error',
    platform: 'javascript',
    status: issue.status ?? 'unresolved',
    substatus: issue.substatus ?? 'ongoing',
    statusDetails: issue.statusDetails ?? {},
    metadata: { type: 'TypeError', value: issue.title },
    count: String(issue.count),
    userCount: issue.userCount,
    firstSeen: iso((issue.daysAgo ?? 1) + 30),
    lastSeen: iso(issue.daysAgo ?? 1),
    assignedTo: issue.assignee === undefined ? null : { type: 'user', id: '7', ...issue.assignee },
    numComments: issue.comments?.length ?? 0,
    permalink: `https://sentry.example/organizations/${SOURCE_ORG}/issues/${issue.id}/`,
  })

  const viewEvent = (issue: SourceIssueSeed, index: number) => ({
    id: eventIdOf(issue.id, index),
    eventID: eventIdOf(issue.id, index),
    groupID: issue.id,
    dateCreated: iso((issue.daysAgo ?? 1) + index),
    dateReceived: iso((issue.daysAgo ?? 1) + index),
    platform: 'javascript',
    title: `TypeError: ${issue.title}`,
    message: '',
    dist: null,
    tags: [
      { key: 'environment', value: 'production' },
      { key: 'level', value: 'error' },
      { key: 'release', value: 'shop@4.11.0' },
      { key: 'plan', value: 'gold' },
    ],
    contexts: { os: { name: 'Android', version: '14', type: 'os' } },
    user: { id: `u${issue.id}-${index}`, email: null, name: null, username: null, ip_address: null, data: {} },
    sdk: { name: 'sentry.javascript.browser', version: '9.1.0' },
    entries: [
      {
        type: 'exception',
        data: {
          values: [
            {
              type: 'TypeError',
              value: issue.title,
              mechanism: { type: 'onerror', handled: false },
              threadId: null,
              module: null,
              stacktrace: {
                frames: [
                  {
                    filename: `app:///cart-${wordOf(issue.id)}.js`,
                    absPath: `app:///cart-${wordOf(issue.id)}.js`,
                    module: null,
                    function: `checkout_${wordOf(issue.id)}`,
                    lineNo: 42,
                    colNo: 7,
                    inApp: true,
                    context: [
                      [41, 'const total = sum(cart)'],
                      [42, 'total.toFixed(2)'],
                      [43, 'return total'],
                    ],
                    vars: null,
                  },
                ],
                hasSystemFrames: false,
              },
            },
          ],
        },
      },
      {
        type: 'breadcrumbs',
        data: {
          values: [{ type: 'default', category: 'ui.click', message: 'button#pay', timestamp: iso(1), event_id: null }],
        },
      },
      {
        type: 'request',
        data: { url: 'https://shop.example/cart', method: 'GET', query: [['step', '2']], headers: [] },
      },
    ],
  })

  const lists = new Map<SourceProjectSeed, unknown[]>()
  const answer = (path: string, query: URLSearchParams): unknown => {
    const of = path
      .split('/')
      .filter((part) => part !== '')
      .slice(2)
    const [area, org, third, fourth, fifth] = of
    if (area === 'organizations' && org === SOURCE_ORG) {
      if (third === 'projects') return projects.map(({ id, slug, platform }) => ({ id, slug, name: slug, platform }))
      if (third === 'members') return extras.members ?? []
      if (third === 'releases' && fourth === undefined)
        return (extras.releases ?? []).map(({ version, commits }) => ({
          version,
          dateCreated: iso(9),
          dateReleased: iso(8),
          ref: null,
          url: null,
          commitCount: commits.length,
        }))
      if (third === 'releases' && fifth === 'commits')
        return extras.releases?.find(({ version }) => version === decodeURIComponent(fourth ?? ''))?.commits
    }
    if (area === 'projects' && org === SOURCE_ORG) {
      const project = projects.find(({ slug }) => slug === third)
      if (project === undefined) return undefined
      if (fourth === 'keys')
        return [
          {
            id: project.publicKey,
            public: project.publicKey,
            isActive: true,
            dsn: { public: `https://${project.publicKey}@sentry.example/${project.id}` },
          },
        ]
      if (fourth === 'rules') return project === projects[0] ? (extras.rules ?? []) : []
      if (fourth === 'issues') {
        const list = lists.get(project) ?? project.issues.map(viewIssue)
        lists.set(project, list)
        return list
      }
    }
    const issue = area === 'issues' ? issuesById.get(org ?? '') : undefined
    if (issue === undefined) return undefined
    if (third === 'events') {
      if (query.get('full') !== 'true') return []
      return Array.from({ length: issue.events ?? 1 }, (_, index) => viewEvent(issue, index))
    }
    if (third !== 'comments') return undefined
    return (issue.comments ?? []).map(({ id, text, email, name }, index) => ({
      id,
      type: 'note',
      dateCreated: iso(2 - index / 24),
      data: { text },
      user: { name, email },
    }))
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://sentry')
    requests.push(`${request.method} ${url.pathname}`)
    for (const listener of listeners) listener(url.pathname)
    const send = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
      const answerNow = () =>
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
      if (extras.latencyMs === undefined) answerNow()
      else setTimeout(answerNow, extras.latencyMs)
    }
    if (failing !== null && failing.times > 0) {
      failing.times--
      return send(
        failing.status,
        { detail: 'You are attempting to use this endpoint too frequently.' },
        { 'retry-after': '1' },
      )
    }
    if (isRevoked || request.headers.authorization !== `Bearer ${token}`) return send(401, { detail: 'Invalid token' })
    const body = answer(url.pathname, url.searchParams)
    if (body === undefined) return send(404, { detail: 'The requested resource does not exist' })
    if (!Array.isArray(body)) return send(200, body)
    const limit = Number(url.searchParams.get('limit') ?? url.searchParams.get('per_page') ?? 100)
    const from = Number(/^0:(\d+):0$/.exec(url.searchParams.get('cursor') ?? '0:0:0')?.[1] ?? 0)
    const linkTo = (rel: string, offset: number, results: boolean): string =>
      `<http://sentry${url.pathname}?cursor=0:${offset}:0>; rel="${rel}"; results="${results}"; cursor="0:${offset}:0"`
    return send(200, body.slice(from, from + limit), {
      'x-hits': String(body.length),
      'x-max-hits': '1000000',
      link: `${linkTo('previous', Math.max(0, from - limit), from > 0)}, ${linkTo('next', from + limit, from + limit < body.length)}`,
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    requests,
    failNext: (status, times) => void (failing = { status, times }),
    revoke: () => void (isRevoked = true),
    onRequest: (listener) => void listeners.push(listener),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A word for an id: digits in names do not tell issues apart. */
export const wordOf = (id: string): string => id.replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))

/** Event ids of the stand-in: an issue and the place of the event, the newest first. */
export const eventIdOf = (issueId: string, index: number): string =>
  issueId.padStart(24, 'a') + index.toString(16).padStart(8, '0')
