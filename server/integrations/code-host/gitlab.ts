import { z } from 'zod'
import { listChanges, encodePath } from './github.ts'
import type { HostClient, ChangedFile, HostCommit, HostEvent, Vendor } from './vendor.ts'
import { changedLines, keptPatch } from './patch-lines.ts'
import { readHeader, isHubSigned, isSecretSent, isStandardSigned } from './signatures.ts'

/** GitLab, at gitlab.com or self-managed. */

const NO_COMMIT = /^0+$/
const known = (sha: string | null | undefined): string | null => (sha == null || NO_COMMIT.test(sha) ? null : sha)
const paths = z.array(z.string()).nullish()
const Project = z.object({ default_branch: z.string().nullish() })

const Push = z.object({
  ref: z.string(),
  before: z.string(),
  after: z.string(),
  checkout_sha: z.string().nullish(),
  user_name: z.string().nullish(),
  total_commits_count: z.int().nullish(),
  commits: z
    .array(
      z.object({
        id: z.string(),
        message: z.string(),
        timestamp: z.string(),
        author: z.object({ name: z.string().nullish(), email: z.string().nullish() }).nullish(),
        added: paths,
        modified: paths,
        removed: paths,
      }),
    )
    .nullish(),
  project: Project,
})

const Merge = z.object({
  user: z.object({ username: z.string().nullish() }).nullish(),
  project: Project,
  object_attributes: z.object({
    iid: z.int(),
    title: z.string(),
    description: z.string().nullish(),
    state: z.string(),
    target_branch: z.string(),
    merge_commit_sha: z.string().nullish(),
    squash_commit_sha: z.string().nullish(),
    last_commit: z.object({ id: z.string() }).nullish(),
    updated_at: z.string().nullish(),
  }),
})

const IssueChange = z.object({ object_attributes: z.object({ iid: z.int() }) })

const Release = z.object({
  tag: z.string(),
  action: z.string().nullish(),
  released_at: z.string().nullish(),
  commit: z.object({ id: z.string() }).nullish(),
})

const TREE_PAGE = 100
const MAX_TREE_PAGES = 300

export const gitlab: Vendor = {
  provider: 'gitlab',
  label: 'GitLab',
  publicHost: 'gitlab.com',
  pullSign: '!',
  ownersPaths: ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'],
  verify: (headers, body, secret, now) =>
    isStandardSigned(headers, body, secret, now) ||
    isSecretSent(headers, 'x-gitlab-token', secret) ||
    isHubSigned(headers, body, secret),
  head: (headers) => ({
    id:
      readHeader(headers, 'idempotency-key') ??
      readHeader(headers, 'webhook-id') ??
      readHeader(headers, 'x-gitlab-event-uuid'),
    event: (readHeader(headers, 'x-gitlab-event') ?? '')
      .replace(/ Hook$/, '')
      .toLowerCase()
      .replaceAll(' ', '_'),
  }),
  read(event, payload): HostEvent {
    switch (event) {
      case 'push':
      case 'tag_push':
        return readPush(Push.parse(payload))
      case 'merge_request':
        return readMerge(Merge.parse(payload))
      case 'issue':
      case 'confidential_issue':
        return { kind: 'issue', number: IssueChange.parse(payload).object_attributes.iid }
      case 'release': {
        const { tag, action, released_at: at, commit } = Release.parse(payload)
        return action === 'delete'
          ? { kind: 'other' }
          : { kind: 'release', tag, sha: commit?.id ?? null, at: dateOf(at) }
      }
      default:
        return { kind: 'other' }
    }
  },
  apiUrl(repositoryUrl, path) {
    const { origin, pathname } = new URL(repositoryUrl)
    return `${origin}/api/v4/projects/${encodeURIComponent(pathname.slice(1))}${path}`
  },
  tokenHeaders: (token) => ({ 'private-token': token }),
  fileUrl: (repository, ref, path) => `${repository}/-/blob/${encodePath(ref)}/${encodePath(path)}`,
  commitUrl: (repository, sha) => `${repository}/-/commit/${sha}`,
  pullUrl: (repository, number) => `${repository}/-/merge_requests/${number}`,
  async readDefaultBranch(client) {
    return (await client.get('', z.object({ default_branch: z.string().nullish() })))?.default_branch ?? ''
  },
  compare,
  async readCommitId(client, ref) {
    return (
      (await client.get(`/repository/commits/${encodeURIComponent(ref)}`, z.object({ id: z.string() })))?.id ?? null
    )
  },
  async readFiles(client, sha) {
    const files = await client.get(`/repository/commits/${sha}/diff?per_page=100`, z.array(Diff))
    return files?.flatMap(readDiff) ?? null
  },
  async listPaths(client, ref, max) {
    const found: string[] = []
    for (let page = 1; page <= MAX_TREE_PAGES && found.length < max; page += 1) {
      const part = await client.get(
        `/repository/tree?recursive=true&per_page=${TREE_PAGE}&page=${page}&ref=${encodeURIComponent(ref)}`,
        z.array(z.object({ path: z.string(), type: z.string() })),
      )
      found.push(...(part ?? []).flatMap(({ path, type }) => (type === 'blob' ? [path] : [])))
      if (part === null || part.length < TREE_PAGE) break
    }
    return found.slice(0, max)
  },
  async readText(client, ref, path) {
    const file = await client.get(
      `/repository/files/${encodeURIComponent(path)}?ref=${encodeURIComponent(ref)}`,
      z.object({ encoding: z.string(), content: z.string() }),
    )
    return file?.encoding === 'base64' ? Buffer.from(file.content, 'base64').toString() : null
  },
}

/** GitLab writes times in ISO 8601 and, in older versions, as `2026-11-02 12:55:12 UTC`. */
const dateOf = (text: string | null | undefined): Date =>
  new Date((text ?? '').replace(/ UTC$/, 'Z').replace(/ ([+-]\d{4})$/, '$1'))

function readPush({
  ref,
  before,
  after,
  commits,
  total_commits_count: total,
  user_name,
  checkout_sha: checkout,
  project,
}: z.infer<typeof Push>): HostEvent {
  const named = (commits ?? []).map(({ id, message, timestamp, author, added, modified, removed }) => ({
    sha: id,
    message,
    authorName: author?.name ?? null,
    authorEmail: author?.email ?? null,
    authorLogin: null,
    committedAt: dateOf(timestamp),
    files: listChanges(added, modified, removed),
  }))
  return {
    kind: 'push',
    branch: ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null,
    tag: ref.startsWith('refs/tags/') ? ref.slice('refs/tags/'.length) : null,
    defaultBranch: project.default_branch ?? null,
    before: known(before),
    after: known(after) === null ? null : (checkout ?? after),
    // GitLab does not say so.
    isForced: false,
    commits: named,
    isCut: (total ?? 0) > named.length,
    pusher: user_name ?? null,
  }
}

const readMerge = ({ object_attributes: merge, project, user }: z.infer<typeof Merge>): HostEvent => ({
  kind: 'pull',
  number: merge.iid,
  title: merge.title,
  text: merge.description ?? '',
  state: merge.state === 'merged' ? 'merged' : merge.state === 'opened' ? 'open' : 'closed',
  // A merge by fast-forward makes no commit of its own.
  mergeSha: merge.merge_commit_sha ?? merge.squash_commit_sha ?? merge.last_commit?.id ?? null,
  mergedAt: merge.state === 'merged' && merge.updated_at != null ? dateOf(merge.updated_at) : null,
  base: merge.target_branch,
  defaultBranch: project.default_branch ?? null,
  author: user?.username ?? null,
})

const Diff = z.object({
  old_path: z.string(),
  new_path: z.string(),
  diff: z.string().nullish(),
  new_file: z.boolean(),
  renamed_file: z.boolean(),
  deleted_file: z.boolean(),
})

function readDiff({ old_path: old, new_path: path, diff, ...is }: z.infer<typeof Diff>): ChangedFile[] {
  const type = is.deleted_file ? 'D' : is.new_file || is.renamed_file ? 'A' : 'M'
  const patch = diff ?? ''
  const file = { path, type, ...(patch === '' ? {} : { lines: changedLines(patch), patch: keptPatch(patch) }) } as const
  return is.renamed_file && old !== path ? [file, { path: old, type: 'D' }] : [file]
}

const Compared = z.object({
  commits: z.array(
    z.object({
      id: z.string(),
      message: z.string().nullish(),
      title: z.string(),
      author_name: z.string().nullish(),
      author_email: z.string().nullish(),
      authored_date: z.string().nullish(),
      created_at: z.string(),
    }),
  ),
})

async function compare(client: HostClient, base: string, head: string): Promise<HostCommit[] | null> {
  const compared = await client.get(`/repository/compare?from=${base}&to=${head}`, Compared)
  return (
    compared?.commits.map((commit) => ({
      sha: commit.id,
      message: commit.message ?? commit.title,
      authorName: commit.author_name ?? null,
      authorEmail: commit.author_email ?? null,
      authorLogin: null,
      committedAt: dateOf(commit.authored_date ?? commit.created_at),
      files: null,
    })) ?? null
  )
}
