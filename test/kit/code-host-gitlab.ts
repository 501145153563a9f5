import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import {
  addIssue,
  HOST_TOKEN,
  type HostedCommit,
  type HostedIssue,
  type HostRequest,
  jsonOf,
  rangeOf,
  type Sent,
  type StandIn,
} from './code-host-github.ts'

/** A self-managed GitLab as its documentation describes it: webhooks, and the part of its REST API that reads a repository. */

export async function gitlabHost(): Promise<StandIn> {
  const server = createServer((request, response) => {
    const send = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    }
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://host')
    host.requests.push(`${request.method} ${pathname}`)
    if (host.mood === 'down') return send(503, { message: '503 Service Unavailable' })
    if (host.mood === 'garbled')
      return response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>')
    if (host.mood === 'limited' || host.mood === 'second limit')
      return send(
        429,
        { message: 'Too many requests' },
        { 'retry-after': '60', 'ratelimit-reset': String(Math.ceil(host.resetAt.getTime() / 1000)) },
      )
    if (request.headers['private-token'] !== HOST_TOKEN || host.mood === 'revoked')
      return send(401, {
        error: 'invalid_token',
        error_description: 'Token was revoked. You have to re-authorize from the user.',
      })
    if (host.mood === 'forbidden') return send(403, { error: 'insufficient_scope' })
    const prefix = `/api/v4/projects/${encodeURIComponent('meadowlark/apps/shop')}`
    if (!pathname.startsWith(prefix)) return send(404, { message: '404 Project Not Found' })
    const path = pathname.slice(prefix.length)
    if (path === '')
      return send(200, {
        id: 7,
        path_with_namespace: 'meadowlark/apps/shop',
        default_branch: 'main',
        issues_enabled: host.hasIssues,
        issues_access_level: host.hasIssues ? 'enabled' : 'disabled',
      })
    if (path.startsWith('/issues')) return void answerIssues(host, { request, path, searchParams, send })
    if (path === '/repository/compare') {
      const between = rangeOf(host.commits, searchParams.get('from') ?? '', searchParams.get('to') ?? '')
      return between === null
        ? send(404, { message: '404 Not Found' })
        : send(200, { commits: between.map(viewCommit), diffs: [], compare_timeout: false })
    }
    if (path === '/repository/tree') {
      const all = [...host.paths, ...host.texts.keys()].map((one) => ({ path: one, name: one, type: 'blob' }))
      const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get('per_page'))]
      return send(200, all.slice((page - 1) * size, page * size))
    }
    const [, ref = '', diff] = /^\/repository\/commits\/(\w+)(\/diff)?$/.exec(path) ?? []
    const commit = host.commits.find(({ sha }) => sha === ref)
    if (ref !== '' && commit === undefined) return send(404, { message: '404 Commit Not Found' })
    if (commit !== undefined)
      return send(
        200,
        diff === undefined
          ? viewCommit(commit)
          : commit.files.map(({ filename, status, patch, previous_filename: old }) => ({
              old_path: old ?? filename,
              new_path: filename,
              new_file: status === 'added',
              renamed_file: status === 'renamed',
              deleted_file: status === 'removed',
              diff: patch ?? '',
            })),
      )
    const [, file = ''] = /^\/repository\/files\/([^/]+)$/.exec(path) ?? []
    const text = host.texts.get(decodeURIComponent(file))
    return text === undefined
      ? send(404, { message: '404 File Not Found' })
      : send(200, { file_path: file, encoding: 'base64', content: Buffer.from(text).toString('base64') })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const host: StandIn = {
    url,
    repositoryUrl: `${url}/meadowlark/apps/shop`,
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

const NewIssue = z.strictObject({
  title: z.string().min(1).max(255),
  description: z.string().max(1_048_576),
  labels: z.string(),
})

async function answerIssues(host: StandIn, { request, path, searchParams, send }: HostRequest): Promise<void> {
  const view = ({ number, title, body, isClosed, labels }: HostedIssue) => ({
    iid: number,
    id: number + 9_000,
    title,
    description: body,
    state: isClosed ? 'closed' : 'opened',
    labels,
    web_url: `${host.repositoryUrl}/-/issues/${number}`,
  })
  if (!host.hasIssues) return send(403, { message: '403 Forbidden' })
  const json = request.method === 'GET' ? undefined : await jsonOf(request)
  const answer = (status: number, body: unknown): void => {
    if (host.lostAnswers <= 0) return send(status, body)
    host.lostAnswers -= 1
    request.socket.destroy()
  }
  if (path === '/issues' && request.method === 'GET') {
    const word = searchParams.get('search') ?? ''
    const found = host.issues.filter(({ body }) => body.includes(word)).toReversed()
    return send(200, found.map(view).slice(0, Number(searchParams.get('per_page'))))
  }
  if (path === '/issues') {
    const made = NewIssue.safeParse(json)
    if (!made.success) return send(400, { error: 'title is too long' })
    const { title, description: body, labels } = made.data
    return answer(201, view(addIssue(host, { title, body, labels: labels.split(',') })))
  }
  const [, number, notes] = /^\/issues\/(\d+)(\/notes)?$/.exec(path) ?? []
  const issue = host.issues.find((one) => one.number === Number(number) && !one.isDeleted)
  if (issue === undefined) return send(404, { message: '404 Issue Not Found' })
  if (notes !== undefined && request.method === 'GET')
    return send(
      200,
      issue.comments.toReversed().map((body) => ({ body })),
    )
  if (notes !== undefined) {
    issue.comments.push(z.strictObject({ body: z.string().min(1) }).parse(json).body)
    return answer(201, { id: issue.comments.length })
  }
  if (request.method === 'PUT') {
    const { state_event: event } = z.strictObject({ state_event: z.enum(['close', 'reopen']) }).parse(json)
    issue.isClosed = event === 'close'
    return answer(200, view(issue))
  }
  send(200, view(issue))
}

const viewCommit = ({ sha, message, name, email, at }: HostedCommit) => ({
  id: sha,
  short_id: sha.slice(0, 8),
  title: message.split('\n', 1)[0],
  message,
  author_name: name,
  author_email: email,
  authored_date: at.toISOString(),
  created_at: at.toISOString(),
})

const PROJECT = { id: 7, path_with_namespace: 'meadowlark/apps/shop', default_branch: 'main' }

/** The payload of a push: GitLab names the newest 20 commits only. */
export const gitlabPush = (
  commits: readonly HostedCommit[],
  over: { readonly ref?: string; readonly before?: string; readonly after?: string } = {},
): Record<string, unknown> => ({
  object_kind: 'push',
  event_name: 'push',
  ref: 'refs/heads/main',
  before: '0'.repeat(40),
  after: commits.at(-1)?.sha ?? '0'.repeat(40),
  checkout_sha: commits.at(-1)?.sha ?? null,
  user_name: 'Tomo A.',
  user_username: 'tomo',
  ...over,
  project: PROJECT,
  commits: commits.slice(-20).map(({ sha, message, name, email, at, files }) => ({
    id: sha,
    message,
    title: message.split('\n', 1)[0],
    timestamp: at.toISOString(),
    author: { name, email },
    added: files.filter(({ status }) => status === 'added').map(({ filename }) => filename),
    modified: files.filter(({ status }) => status === 'modified').map(({ filename }) => filename),
    removed: files.filter(({ status }) => status === 'removed').map(({ filename }) => filename),
  })),
  total_commits_count: commits.length,
})

export const gitlabMerge = (merge: {
  readonly iid: number
  readonly title: string
  readonly description?: string
  readonly state: 'opened' | 'merged' | 'closed'
  readonly mergeSha?: string
  readonly at: Date
}): Record<string, unknown> => ({
  object_kind: 'merge_request',
  user: { name: 'Robin V.', username: 'robin' },
  project: PROJECT,
  object_attributes: {
    iid: merge.iid,
    title: merge.title,
    description: merge.description ?? '',
    state: merge.state,
    action: merge.state === 'merged' ? 'merge' : 'open',
    target_branch: 'main',
    source_branch: 'topic',
    merge_commit_sha: merge.mergeSha ?? null,
    updated_at: merge.at.toISOString(),
  },
})

/** The payload about an issue. */
export const gitlabIssue = (iid: number, action: 'open' | 'close' | 'reopen'): Record<string, unknown> => ({
  object_kind: 'issue',
  event_type: 'issue',
  project: PROJECT,
  object_attributes: { iid, action, state: action === 'close' ? 'closed' : 'opened' },
})

const KINDS: Readonly<Record<string, string>> = {
  push: 'Push Hook',
  tag_push: 'Tag Push Hook',
  merge_request: 'Merge Request Hook',
  release: 'Release Hook',
  issue: 'Issue Hook',
}

/** A delivery as GitLab sends it: with the secret token, or with the signature of its newer versions. */
export function gitlabDelivery(
  secret: string,
  event: string,
  payload: unknown,
  { id = randomUUID(), signedAt = null }: { readonly id?: string; readonly signedAt?: Date | null } = {},
): Sent {
  const body = JSON.stringify(payload)
  const time = String(Math.floor((signedAt ?? new Date()).getTime() / 1000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return {
    headers: {
      'content-type': 'application/json',
      'x-gitlab-event': KINDS[event] ?? event,
      'x-gitlab-event-uuid': id,
      'idempotency-key': id,
      ...(signedAt === null
        ? { 'x-gitlab-token': secret }
        : {
            'webhook-id': id,
            'webhook-timestamp': time,
            'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`,
          }),
    },
    body,
  }
}
