import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

/**
 * GitHub Enterprise Server as its documentation describes it: webhooks with their headers and signatures, and the part of
 * its REST API that reads a repository, with its errors and limits.
 */

export type HostedFile = {
  readonly filename: string
  readonly status: string
  readonly patch?: string
  readonly previous_filename?: string
}

export type HostedCommit = {
  readonly sha: string
  readonly message: string
  readonly name: string
  readonly email: string
  readonly login?: string
  readonly at: Date
  readonly files: readonly HostedFile[]
}

/** How the next requests are answered: honestly, or as at a fault. */
export type HostMood = 'well' | 'revoked' | 'limited' | 'second limit' | 'down' | 'forbidden' | 'garbled'

export const HOST_TOKEN = 'canary-host-token-7731'

/** A hash that looks like one of git. */
export const aSha = (seed: string): string => createHmac('sha1', 'commit').update(seed).digest('hex')

/** An issue of the repository. */
export type HostedIssue = {
  readonly number: number
  readonly title: string
  readonly body: string
  readonly labels: readonly string[]
  isClosed: boolean
  /** Why GitHub closed it. */
  reason: string | null
  isDeleted: boolean
  readonly comments: string[]
}

export type StandIn = {
  readonly url: string
  readonly repositoryUrl: string
  /** Commits of the default branch, oldest first. */
  readonly commits: HostedCommit[]
  /** Texts of files, by path. */
  readonly texts: Map<string, string>
  /** Paths of files without a text. */
  readonly paths: Set<string>
  /** Issues, oldest first. */
  readonly issues: HostedIssue[]
  hasIssues: boolean
  readonly requests: string[]
  /** Faults of one request each that writes: its answer is lost after its effect. */
  lostAnswers: number
  mood: HostMood
  /** When a limit ends. */
  resetAt: Date
  close(): Promise<void>
}

export async function githubHost(): Promise<StandIn> {
  const server = createServer((request, response) => {
    const send = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
      response
        .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
        .end(JSON.stringify(body))
    }
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://host')
    host.requests.push(`${request.method} ${pathname}`)
    const resetSeconds = String(Math.ceil(host.resetAt.getTime() / 1000))
    if (host.mood === 'down') return send(502, { message: 'Server Error' })
    if (host.mood === 'garbled')
      return response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>')
    if (host.mood === 'limited')
      return send(
        403,
        { message: 'API rate limit exceeded for user ID 1.' },
        { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': resetSeconds },
      )
    if (host.mood === 'second limit')
      return send(403, { message: 'You have exceeded a secondary rate limit.' }, { 'retry-after': '90' })
    if (request.headers.authorization !== `Bearer ${HOST_TOKEN}` || host.mood === 'revoked')
      return send(401, { message: 'Bad credentials', status: '401' })
    if (host.mood === 'forbidden') return send(403, { message: 'Resource not accessible by personal access token' })
    const [, path] = /^\/api\/v3\/repos\/meadowlark\/shop(.*)$/.exec(pathname) ?? []
    if (path === undefined) return send(404, { message: 'Not Found' })
    if (path === '')
      return send(200, { full_name: 'meadowlark/shop', default_branch: 'main', has_issues: host.hasIssues })
    if (path.startsWith('/issues')) return void answerIssues(host, { request, path, searchParams, send })
    const [, base, head] = /^\/compare\/(\w+)\.\.\.(\w+)$/.exec(path) ?? []
    if (base !== undefined && head !== undefined) {
      const between = rangeOf(host.commits, base, head)
      if (between === null) return send(404, { message: 'Not Found' })
      const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get('per_page'))]
      const commits = between.slice((page - 1) * size, page * size)
      return send(200, { total_commits: between.length, commits: commits.map(viewCommit), files: [] })
    }
    const [, ref = ''] = /^\/commits\/(.+)$/.exec(path) ?? []
    if (ref !== '') {
      const commit =
        host.commits.find(({ sha }) => sha.startsWith(ref)) ?? (ref === 'main' ? host.commits.at(-1) : undefined)
      return commit === undefined
        ? send(422, { message: `No commit found for SHA: ${ref}` })
        : send(200, {
            ...viewCommit(commit),
            files: commit.files.map((file) => ({ additions: 1, deletions: 1, ...file })),
          })
    }
    if (path.startsWith('/git/trees/'))
      return send(200, {
        tree: [...host.paths, ...host.texts.keys()].map((one) => ({ path: one, mode: '100644', type: 'blob' })),
        truncated: false,
      })
    const [, file = ''] = /^\/contents\/(.+)$/.exec(path) ?? []
    const text = host.texts.get(decodeURIComponent(file))
    return text === undefined
      ? send(404, { message: 'Not Found' })
      : send(200, { type: 'file', encoding: 'base64', content: Buffer.from(text).toString('base64') })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const host: StandIn = {
    url,
    repositoryUrl: `${url}/meadowlark/shop`,
    commits: [],
    texts: new Map(),
    paths: new Set(),
    issues: [],
    hasIssues: true,
    requests: [],
    lostAnswers: 0,
    mood: 'well',
    resetAt: new Date(0),
    close: () => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  }
  return host
}

/** Adds an issue as the code host does. */
export function addIssue(
  host: StandIn,
  given: { title: string; body: string; labels: readonly string[] },
): HostedIssue {
  const issue = {
    number: host.issues.length + 101,
    ...given,
    isClosed: false,
    reason: null,
    isDeleted: false,
    comments: [],
  }
  host.issues.push(issue)
  return issue
}

/** The JSON that a request carries. */
export const jsonOf = async (request: IncomingMessage): Promise<unknown> =>
  JSON.parse((await request.setEncoding('utf8').toArray()).join(''))

export type HostRequest = {
  readonly request: IncomingMessage
  /** Below the repository. */
  readonly path: string
  readonly searchParams: URLSearchParams
  readonly send: (status: number, body: unknown) => void
}

const NewIssue = z.strictObject({
  title: z.string().min(1).max(256),
  body: z.string().max(65_536),
  labels: z.array(z.string()),
})
const IssueChange = z.strictObject({
  state: z.enum(['open', 'closed']),
  state_reason: z.enum(['completed', 'not_planned', 'reopened']),
})

async function answerIssues(host: StandIn, { request, path, searchParams, send }: HostRequest): Promise<void> {
  const view = (issue: HostedIssue) => ({
    number: issue.number,
    title: issue.title,
    body: issue.body,
    html_url: `${host.repositoryUrl}/issues/${issue.number}`,
    state: issue.isClosed ? 'closed' : 'open',
    state_reason: issue.reason,
    comments: issue.comments.length,
    labels: issue.labels.map((name) => ({ name })),
  })
  if (!host.hasIssues) return send(410, { message: 'Issues has been disabled in this repository.' })
  const json = request.method === 'GET' ? undefined : await jsonOf(request)
  const answer = (status: number, body: unknown): void => {
    if (request.method === 'GET' || host.lostAnswers <= 0) return send(status, body)
    host.lostAnswers -= 1
    request.socket.destroy()
  }
  const wrong = () => send(422, { message: 'Validation Failed', errors: [] })
  if (path === '/issues' && request.method === 'GET')
    return send(
      200,
      host.issues
        .map(view)
        .toReversed()
        .slice(0, Number(searchParams.get('per_page'))),
    )
  if (path === '/issues') {
    const made = NewIssue.safeParse(json)
    return made.success ? answer(201, view(addIssue(host, made.data))) : wrong()
  }
  const [, number, comments] = /^\/issues\/(\d+)(\/comments)?$/.exec(path) ?? []
  const issue = host.issues.find((one) => one.number === Number(number))
  if (issue === undefined) return send(404, { message: 'Not Found' })
  if (issue.isDeleted) return send(410, { message: 'This issue was deleted' })
  if (comments !== undefined && request.method === 'GET') {
    const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get('per_page'))]
    return send(
      200,
      issue.comments.slice((page - 1) * size, page * size).map((body) => ({ body })),
    )
  }
  if (comments !== undefined) {
    issue.comments.push(z.strictObject({ body: z.string().min(1) }).parse(json).body)
    return answer(201, { id: issue.comments.length })
  }
  if (request.method === 'PATCH') {
    const change = IssueChange.safeParse(json)
    if (!change.success) return wrong()
    issue.isClosed = change.data.state === 'closed'
    issue.reason = change.data.state_reason
    return answer(200, view(issue))
  }
  send(200, view(issue))
}

/** Commits after one and up to another; null when one is not known. */
export function rangeOf(commits: readonly HostedCommit[], base: string, head: string): HostedCommit[] | null {
  const [from, to] = [commits.findIndex(({ sha }) => sha === base), commits.findIndex(({ sha }) => sha === head)]
  return from < 0 || to < 0 ? null : commits.slice(from + 1, to + 1)
}

const viewCommit = ({ sha, message, name, email, login, at }: HostedCommit) => ({
  sha,
  commit: { message, author: { name, email, date: at.toISOString() } },
  author: login === undefined ? null : { login, id: 1 },
})

const LISTS = { added: 'added', modified: 'modified', removed: 'removed' } as const

/** The payload of a push to a branch. */
export const githubPush = (
  commits: readonly HostedCommit[],
  over: { readonly ref?: string; readonly before?: string; readonly after?: string; readonly forced?: boolean } = {},
): Record<string, unknown> => ({
  ref: 'refs/heads/main',
  before: '0'.repeat(40),
  after: commits.at(-1)?.sha ?? '0'.repeat(40),
  created: false,
  deleted: false,
  forced: false,
  compare: 'https://github.example/compare',
  ...over,
  commits: commits.map(({ sha, message, name, email, login, at, files }) => ({
    id: sha,
    tree_id: aSha(`tree ${sha}`),
    distinct: true,
    message,
    timestamp: at.toISOString(),
    url: `https://github.example/commit/${sha}`,
    author: { name, email, ...(login === undefined ? {} : { username: login }) },
    committer: { name, email },
    added: files.filter(({ status }) => status === LISTS.added).map(({ filename }) => filename),
    removed: files.filter(({ status }) => status === LISTS.removed).map(({ filename }) => filename),
    modified: files.filter(({ status }) => status === LISTS.modified).map(({ filename }) => filename),
  })),
  head_commit: commits.length === 0 ? null : { id: commits.at(-1)?.sha, message: commits.at(-1)?.message },
  pusher: { name: 'tomo', email: 'tomo@meadowlark.example' },
  repository: { id: 1, full_name: 'meadowlark/shop', default_branch: 'main' },
})

/** The payload of a push of a tag; an annotated tag has a hash of its own. */
export const githubTag = (tag: string, sha: string, isAnnotated = false): Record<string, unknown> => ({
  ...githubPush([], { ref: `refs/tags/${tag}`, after: isAnnotated ? aSha(`tag ${tag}`) : sha }),
  head_commit: { id: sha, message: 'tagged' },
})

export const githubPull = (pull: {
  readonly number: number
  readonly title: string
  readonly body?: string
  readonly merged?: boolean
  readonly state?: 'open' | 'closed'
  readonly mergeSha?: string
  readonly base?: string
  readonly at?: Date
}): Record<string, unknown> => ({
  action: pull.merged === true ? 'closed' : 'opened',
  number: pull.number,
  pull_request: {
    number: pull.number,
    title: pull.title,
    body: pull.body ?? null,
    state: pull.state ?? (pull.merged === true ? 'closed' : 'open'),
    merged: pull.merged ?? false,
    merged_at: pull.merged === true ? (pull.at ?? new Date()).toISOString() : null,
    merge_commit_sha: pull.mergeSha ?? null,
    base: { ref: pull.base ?? 'main' },
    user: { login: 'robin' },
  },
  repository: { id: 1, full_name: 'meadowlark/shop', default_branch: 'main' },
})

/** The payload about an issue. */
export const githubIssue = (number: number, action: string): Record<string, unknown> => ({
  action,
  issue: { number, title: 'An issue', state: action === 'closed' ? 'closed' : 'open' },
  repository: { id: 1, full_name: 'meadowlark/shop', default_branch: 'main' },
})

export const signHub = (secret: string, body: Buffer | string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

export type Sent = { readonly headers: Record<string, string>; readonly body: string }

/** A delivery as GitHub signs it. */
export function githubDelivery(secret: string, event: string, payload: unknown, id: string = randomUUID()): Sent {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/044aadd',
      'x-github-delivery': id,
      'x-github-event': event,
      'x-hub-signature-256': signHub(secret, body),
    },
    body,
  }
}
