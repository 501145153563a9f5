import { membersByLogin, selectMembersByEmail } from '../../identity/team/members.queries.ts'
import { viewPerson } from '../../issues/rows/view-issue.ts'
import { selectGroupIds } from '../../issues/rows/groups.queries.ts'
import type { IssueCode, SuspectCommit } from '../../issues/triage/issue-code.api.ts'
import type { IssueOnPage } from '../../issues/triage/parts.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { type CodeHostRow, selectCodeHost } from './code-hosts.queries.ts'
import {
  commitsAmong,
  findKnownCommit,
  type KnownCommit,
  measureCommits,
  measureRelease,
  type MentionRow,
  nameKeys,
  PULL_IN_MESSAGE,
  selectIssueState,
  selectMentions,
  selectPaths,
  selectReleaseBefore,
  selectReleaseByVersion,
  selectTags,
  selectTouching,
} from './commits.queries.ts'
import { framePlaces } from './frame-paths.ts'
import { excerpt } from './patch-lines.ts'
import { readFix } from './read-fix.ts'
import { rankSuspects, type SourcePlace, type Suspect } from './rank-suspects.ts'
import { cutTitle } from './record-push.ts'
import { headOfRelease } from './release-head.ts'
import { sourcePath } from './source-roots.ts'
import { foldFileName, StoredFiles } from './store-commits.ts'
import { findVendor } from './vendors.ts'
import { readRoots } from './view-code-host.ts'

/** Frames that are compared, and what is read of commits and files for them. */
const MAX_PLACES = 20
const MAX_COMMITS = 100
const MAX_PATHS = 2_000
const MAX_SHOWN = 5
const MAX_MENTIONS = 20
/** Commits of a release and their files that are counted. */
const MAX_COUNTED = { maxCommits: 1_000, maxFiles: 20_000 }

/** The part of an issue's page about its code. The caller checked access. */
export async function readIssueCode(app: App, actor: OrgActor, issue: IssueOnPage): Promise<IssueCode> {
  const { projectId } = issue
  const [host, first, known, groupIds] = await Promise.all([
    selectCodeHost(app.db, projectId),
    selectIssueState(app.db, issue.id),
    measureCommits(app.db, projectId),
    selectGroupIds(app.db, [issue.id]),
  ])
  const framed = issue.event === null ? [] : framePlaces(issue.event).slice(0, MAX_PLACES)
  const names = [...new Set(framed.map(({ path }) => foldFileName(path)))]
  const [release, touching, paths, mentions] = await Promise.all([
    first?.first_release == null ? undefined : selectReleaseByVersion(app.db, projectId, first.first_release),
    first === undefined || names.length === 0
      ? []
      : selectTouching(app.db, projectId, nameKeys(projectId, names), first.first_seen, MAX_COMMITS),
    names.length === 0 ? [] : selectPaths(app.db, projectId, names, MAX_PATHS),
    selectMentions(app.db, groupIds, MAX_MENTIONS),
  ])
  const inRelease =
    release === undefined
      ? new Set<string>()
      : await commitsAmong(
          app.db,
          release.id,
          touching.map(({ sha }) => sha),
        )
  // A commit may be the only one that names a file.
  const files = new Set([...paths, ...touching.flatMap(({ files: changed }) => pathsIn(changed, names))])
  const places = framed.map((place): SourcePlace => ({
    ...place,
    source: sourcePath(place.path, readRoots(host), files),
  }))
  const viewMention = viewMentionOf(host)
  const suspects = first === undefined ? [] : rankSuspects(touching, places, inRelease, first.first_seen)
  const [shownRelease, shownSuspects, links, fix] = await Promise.all([
    release === undefined ? null : viewRelease(app, projectId, release),
    viewSuspects(app, actor, host, suspects.slice(0, MAX_SHOWN), release?.version ?? null),
    host === undefined ? [] : linksOf(app, host, places, issue.event?.release ?? null),
    readFix(app, { projectId, host }, first, mentions, viewMention),
  ])
  return {
    repository_url: host?.repository_url ?? null,
    provider: host?.provider ?? null,
    release: shownRelease,
    compared_frames: places.length,
    suspects: shownSuspects,
    suspect_count: suspects.length,
    known_until: known.newest?.toISOString() ?? null,
    source_links: links,
    mentions: mentions.map(viewMention),
    fix,
  }
}

const viewMentionOf =
  (host: CodeHostRow | undefined) =>
  ({
    kind,
    ref,
    title,
    url,
    author,
    state,
    says_fix,
    mentioned_at: at,
  }: MentionRow): IssueCode['mentions'][number] => ({
    kind,
    label:
      kind === 'commit' ? ref.slice(0, 7) : `${host === undefined ? '#' : findVendor(host.provider).pullSign}${ref}`,
    title,
    url,
    author,
    state,
    says_fix,
    at: at.toISOString(),
  })

async function viewRelease(
  app: App,
  projectId: string,
  { id, version, commits }: NonNullable<Awaited<ReturnType<typeof selectReleaseByVersion>>>,
): Promise<IssueCode['release']> {
  const count = Number(commits)
  const [since, numbers] =
    count === 0
      ? [undefined, null]
      : await Promise.all([selectReleaseBefore(app.db, projectId, id), measureRelease(app.db, id, MAX_COUNTED)])
  return { id, version, commit_count: count, since: since ?? null, numbers }
}

const pathsIn = (files: unknown, names: readonly string[]): string[] =>
  StoredFiles.catch([])
    .parse(files)
    .flatMap(({ path, type }) => (type !== 'D' && names.includes(foldFileName(path)) ? [path] : []))

async function viewSuspects(
  app: App,
  actor: OrgActor,
  host: CodeHostRow | undefined,
  suspects: readonly Suspect[],
  version: string | null,
): Promise<SuspectCommit[]> {
  const emails = suspects.flatMap(({ commit }) => commit.author_email ?? [])
  const logins = suspects.flatMap(({ commit }) => loginOf(commit) ?? [])
  const [byEmail, byLogin] = await Promise.all([
    selectMembersByEmail(app.db, actor.orgId, emails),
    membersByLogin(app.db, actor.orgId, logins),
  ])
  const memberOf = (commit: KnownCommit) => {
    const found = byEmail.find(({ email }) => email === commit.author_email) ?? byLogin.get(loginOf(commit) ?? '')
    return found === undefined ? null : viewPerson(found.id, found.name, found.email)
  }
  return suspects.map(({ commit, isInRelease, touched }) => ({
    sha: commit.sha,
    url: host === undefined ? null : findVendor(host.provider).commitUrl(host.repository_url, commit.sha),
    title: cutTitle(commit.message),
    author_name: commit.author_name,
    member: memberOf(commit),
    committed_at: commit.committed_at.toISOString(),
    pull: pullOf(host, commit.message),
    release: isInRelease ? version : null,
    files: touched.map(({ file, place, isLineChanged }) => ({
      path: file.path,
      line: place.line,
      frame: place.depth,
      is_line_changed: isLineChanged,
    })),
    excerpt: excerptOf(host, commit, touched),
  }))
}

/** The account of an author: named by the code host, or in the address that GitHub gives to those who hide theirs. */
const loginOf = ({ author_login: login, author_email: email }: KnownCommit): string | null =>
  login?.toLowerCase() ?? /^(?:\d+\+)?([\w-]+)@users\.noreply\.github\.com$/.exec(email ?? '')?.[1] ?? null

const PULL = new RegExp(PULL_IN_MESSAGE.join('|'))

/** The pull request that a message of a merge or squash names. */
function pullOf(host: CodeHostRow | undefined, message: string): SuspectCommit['pull'] {
  if (host === undefined) return null
  const vendor = findVendor(host.provider)
  const [, squashed, merged, gitlab] = PULL.exec(message) ?? []
  const number = squashed ?? merged ?? gitlab
  if (number === undefined) return null
  return { label: `${vendor.pullSign}${number}`, url: vendor.pullUrl(host.repository_url, Number(number)) }
}

function excerptOf(
  host: CodeHostRow | undefined,
  { sha }: KnownCommit,
  touched: Suspect['touched'],
): SuspectCommit['excerpt'] {
  for (const { file, place } of touched) {
    const lines = file.patch === undefined || place.line === null ? [] : excerpt(file.patch, place.line)
    if (lines.length === 0) continue
    const url = host === undefined ? null : findVendor(host.provider).fileUrl(host.repository_url, sha, file.path)
    return { path: file.path, url, lines }
  }
  return null
}

/** Links of the frames to the commit of the event's release; to the default branch while that commit is not known. */
async function linksOf(
  app: App,
  host: CodeHostRow,
  places: readonly SourcePlace[],
  version: string | null,
): Promise<IssueCode['source_links']> {
  const vendor = findVendor(host.provider)
  const commit = version === null ? null : await commitOfRelease(app, host.project_id, version)
  const ref = commit ?? host.default_branch
  if (ref === null) return []
  const seen = new Map(places.flatMap(({ given, source }) => (source === null ? [] : [[given, source] as const])))
  return [...seen].map(([file, path]) => ({
    file,
    path,
    url: vendor.fileUrl(host.repository_url, ref, path),
    is_exact: commit !== null,
  }))
}

async function commitOfRelease(app: App, projectId: string, version: string): Promise<string | null> {
  const release = await selectReleaseByVersion(app.db, projectId, version)
  const head =
    release?.head ?? headOfRelease({ version, ref: release?.ref ?? null }, await selectTags(app.db, projectId))
  return head === null ? null : ((await findKnownCommit(app.db, projectId, head))?.sha ?? head)
}
