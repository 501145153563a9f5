import { z } from 'zod'
import type { HostClient, ChangedFile, HostCommit, HostEvent, Vendor } from './vendor.ts'
import { changedLines, keptPatch } from './patch-lines.ts'
import { readHeader, isHubSigned } from './signatures.ts'

/** GitHub and GitHub Enterprise Server. */

const NO_COMMIT = /^0+$/
const known = (sha: string): string | null => (NO_COMMIT.test(sha) ? null : sha)
const paths = z.array(z.string()).nullish()

const Repository = z.object({ default_branch: z.string().nullish() })

const Push = z.object({
  ref: z.string(),
  before: z.string(),
  after: z.string(),
  forced: z.boolean().nullish(),
  commits: z
    .array(
      z.object({
        id: z.string(),
        message: z.string(),
        timestamp: z.string(),
        author: z
          .object({ name: z.string().nullish(), email: z.string().nullish(), username: z.string().nullish() })
          .nullish(),
        added: paths,
        removed: paths,
        modified: paths,
      }),
    )
    .nullish(),
  head_commit: z.object({ id: z.string() }).nullish(),
  pusher: z.object({ name: z.string().nullish() }).nullish(),
  repository: Repository,
})

const Pull = z.object({
  pull_request: z.object({
    number: z.int(),
    title: z.string(),
    body: z.string().nullish(),
    state: z.string(),
    merged: z.boolean().nullish(),
    merged_at: z.string().nullish(),
    merge_commit_sha: z.string().nullish(),
    base: z.object({ ref: z.string() }),
    user: z.object({ login: z.string() }).nullish(),
  }),
  repository: Repository,
})

const IssueChange = z.object({ issue: z.object({ number: z.int() }) })

const Release = z.object({
  action: z.string(),
  release: z.object({
    tag_name: z.string(),
    target_commitish: z.string().nullish(),
    draft: z.boolean().nullish(),
    published_at: z.string().nullish(),
  }),
})

/** A push names at most so many commits. */
const MAX_COMMITS = 2_048
const COMPARE_PAGE = 250
const MAX_COMPARED = 1_000

export const github: Vendor = {
  provider: 'github',
  label: 'GitHub',
  publicHost: 'github.com',
  pullSign: '#',
  ownersPaths: ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'],
  verify: isHubSigned,
  head: (headers) => ({
    id: readHeader(headers, 'x-github-delivery'),
    event: readHeader(headers, 'x-github-event') ?? '',
  }),
  read(event, payload): HostEvent {
    switch (event) {
      case 'ping':
        return { kind: 'ping' }
      case 'push':
        return readPush(Push.parse(payload))
      case 'pull_request':
        return readPull(Pull.parse(payload))
      case 'issues':
        return { kind: 'issue', number: IssueChange.parse(payload).issue.number }
      case 'release':
        return readRelease(Release.parse(payload))
      default:
        return { kind: 'other' }
    }
  },
  apiUrl(repositoryUrl, path) {
    const { origin, host, pathname } = new URL(repositoryUrl)
    return `${host === 'github.com' ? 'https://api.github.com' : `${origin}/api/v3`}/repos${pathname}${path}`
  },
  tokenHeaders: (token) => ({ authorization: `Bearer ${token}`, 'x-github-api-version': '2022-11-28' }),
  fileUrl: (repository, ref, path) => `${repository}/blob/${encodePath(ref)}/${encodePath(path)}`,
  commitUrl: (repository, sha) => `${repository}/commit/${sha}`,
  pullUrl: (repository, number) => `${repository}/pull/${number}`,
  async readDefaultBranch(client) {
    return (await client.get('', z.object({ default_branch: z.string() })))?.default_branch ?? ''
  },
  compare,
  async readCommitId(client, ref) {
    return (await client.get(`/commits/${encodePath(ref)}`, z.object({ sha: z.string() })))?.sha ?? null
  },
  async readFiles(client, sha) {
    const commit = await client.get(`/commits/${sha}`, z.object({ files: z.array(File).nullish() }))
    return commit === null ? null : (commit.files ?? []).flatMap(readFile)
  },
  async listPaths(client, ref, max) {
    const tree = await client.get(
      `/git/trees/${encodeURIComponent(ref)}?recursive=1`,
      z.object({ tree: z.array(z.object({ path: z.string(), type: z.string() })) }),
    )
    return (tree?.tree ?? []).flatMap(({ path, type }) => (type === 'blob' ? [path] : [])).slice(0, max)
  },
  async readText(client, ref, path) {
    const file = await client.get(
      `/contents/${encodePath(path)}?ref=${encodeURIComponent(ref)}`,
      z.object({ encoding: z.string(), content: z.string() }),
    )
    return file?.encoding === 'base64' ? Buffer.from(file.content, 'base64').toString() : null
  },
}

/** Slashes stay. */
export const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

export const listChanges = (
  added: readonly string[] | null | undefined,
  modified: readonly string[] | null | undefined,
  removed: readonly string[] | null | undefined,
): ChangedFile[] => [
  ...(added ?? []).map((path) => ({ path, type: 'A' as const })),
  ...(modified ?? []).map((path) => ({ path, type: 'M' as const })),
  ...(removed ?? []).map((path) => ({ path, type: 'D' as const })),
]

function readPush({
  ref,
  before,
  after,
  forced,
  commits,
  head_commit: head,
  pusher,
  repository,
}: z.infer<typeof Push>): HostEvent {
  return {
    kind: 'push',
    branch: ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null,
    tag: ref.startsWith('refs/tags/') ? ref.slice('refs/tags/'.length) : null,
    defaultBranch: repository.default_branch ?? null,
    before: known(before),
    // An annotated tag has a hash of its own.
    after: known(after) === null ? null : (head?.id ?? after),
    isForced: forced === true,
    commits: (commits ?? []).map(({ id, message, timestamp, author, added, modified, removed }) => {
      const files = listChanges(added, modified, removed)
      return {
        sha: id,
        message,
        authorName: author?.name ?? null,
        authorEmail: author?.email ?? null,
        authorLogin: author?.username ?? null,
        committedAt: new Date(timestamp),
        // Without lists, or for a commit that is too large for them.
        files: files.length === 0 ? null : files,
      }
    }),
    isCut: (commits?.length ?? 0) >= MAX_COMMITS,
    pusher: pusher?.name ?? null,
  }
}

const readPull = ({ pull_request: pull, repository }: z.infer<typeof Pull>): HostEvent => ({
  kind: 'pull',
  number: pull.number,
  title: pull.title,
  text: pull.body ?? '',
  state: pull.merged === true ? 'merged' : pull.state === 'open' ? 'open' : 'closed',
  mergeSha: pull.merge_commit_sha ?? null,
  mergedAt: pull.merged_at == null ? null : new Date(pull.merged_at),
  base: pull.base.ref,
  defaultBranch: repository.default_branch ?? null,
  author: pull.user?.login ?? null,
})

function readRelease({ action, release }: z.infer<typeof Release>): HostEvent {
  if (release.draft === true || !['published', 'released', 'created', 'edited'].includes(action))
    return { kind: 'other' }
  const target = release.target_commitish ?? ''
  return {
    kind: 'release',
    tag: release.tag_name,
    // Otherwise it names a branch, which may be ahead of the tag.
    sha: /^[0-9a-f]{40,64}$/.test(target) ? target : null,
    at: new Date(release.published_at ?? 0),
  }
}

const File = z.object({
  filename: z.string(),
  status: z.string(),
  previous_filename: z.string().nullish(),
  patch: z.string().nullish(),
})

function readFile({ filename, status, previous_filename: previous, patch }: z.infer<typeof File>): ChangedFile[] {
  const type =
    status === 'removed' ? 'D' : status === 'added' || status === 'renamed' || status === 'copied' ? 'A' : 'M'
  const file = {
    path: filename,
    type,
    ...(patch == null ? {} : { lines: changedLines(patch), patch: keptPatch(patch) }),
  } as const
  return status === 'renamed' && previous != null ? [file, { path: previous, type: 'D' }] : [file]
}

const Compared = z.object({
  total_commits: z.int(),
  commits: z.array(
    z.object({
      sha: z.string(),
      commit: z.object({
        message: z.string(),
        author: z
          .object({ name: z.string().nullish(), email: z.string().nullish(), date: z.string().nullish() })
          .nullish(),
      }),
      author: z.object({ login: z.string().nullish() }).nullish(),
    }),
  ),
})

async function compare(client: HostClient, base: string, head: string): Promise<HostCommit[] | null> {
  const found: HostCommit[] = []
  for (let page = 1; found.length < MAX_COMPARED; page += 1) {
    const part = await client.get(`/compare/${base}...${head}?per_page=${COMPARE_PAGE}&page=${page}`, Compared)
    if (part === null) return page === 1 ? null : found
    found.push(
      ...part.commits.map(({ sha, commit, author }) => ({
        sha,
        message: commit.message,
        authorName: commit.author?.name ?? null,
        authorEmail: commit.author?.email ?? null,
        authorLogin: author?.login ?? null,
        committedAt: new Date(commit.author?.date ?? 0),
        files: null,
      })),
    )
    if (part.commits.length < COMPARE_PAGE || found.length >= part.total_commits) break
  }
  return found
}
