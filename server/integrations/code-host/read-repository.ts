import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { defineTask } from '../../platform/jobs/task.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import { type CodeHostRow, changeCodeHost, selectCodeHost } from './code-hosts.queries.ts'
import { announceSuspects } from './announce-suspects.ts'
import { changePaths, clearPaths, selectWanted, wantLines, writeFiles } from './commits.queries.ts'
import { findSourceRoots } from './find-source-roots.ts'
import { HostError } from './host-client.ts'
import type { HostClient } from './vendor.ts'
import { REPOSITORY_JOB } from './job-names.ts'
import { wantReleases } from './link-releases-job.ts'
import { noteProblem, noteSuccess } from './note-problem.ts'
import { openClient } from './open-client.ts'
import { readOwners } from './read-owners.ts'
import { wantRepository } from './read-repository-job.ts'
import { MAX_PATHS, foldFileName, packFiles } from './store-commits.ts'
import { findVendor } from './vendors.ts'

/** Commits whose files one job fetches: the code host limits requests per hour, for all who use the token. */
const MAX_COMMITS = 100
/** Commits that get their lines after a token was entered. */
const MAX_FIRST_COMMITS = 200
const PATHS_PER_STATEMENT = 5_000

/** Reads what deliveries lack: files of the default branch, CODEOWNERS, files and lines of commits; and finds source roots. */
async function readRepository(app: App, projectId: string, signal: AbortSignal): Promise<void> {
  const host = await selectCodeHost(app.db, projectId)
  if (host === undefined) return
  const client = await openClient(app, host, signal)
  try {
    const parts = client === null ? [] : await readAll(app, host, client, signal)
    if (parts.length > 0) await noteSuccess(app, host, parts.join(', '))
  } catch (error) {
    if (!(error instanceof HostError)) throw error
    await noteProblem(app, host, error)
    if (error.kind === 'limited' && error.until !== null) await wantRepository(app.db, projectId, error.until)
    if (error.kind === 'failed') throw error
  }
  await findSourceRoots(app, projectId)
  await announceSuspects(app.db, host)
}

async function readAll(app: App, host: CodeHostRow, client: HostClient, signal: AbortSignal): Promise<string[]> {
  const parts: string[] = []
  const branch = host.default_branch ?? (await findVendor(host.provider).readDefaultBranch(client))
  if (host.listed_at === null) {
    const count = await listFiles(app, host, client, branch)
    parts.push(`${count.toLocaleString('en-GB')} files listed`)
    await findSourceRoots(app, host.project_id)
  }
  if (host.reads_owners && host.owners_read_at === null) {
    const rules = await readOwners(app, host, client, branch)
    parts.push(rules === null ? 'no CODEOWNERS' : `${rules} rules of CODEOWNERS`)
  }
  const wanted = await selectWanted(app.db, host.project_id, MAX_COMMITS)
  for (const { sha } of wanted) {
    signal.throwIfAborted()
    const files = await findVendor(host.provider).readFiles(client, sha)
    const packed = files === null ? null : packFiles(files)
    await writeFiles(app.db, { projectId: host.project_id, sha }, packed?.json ?? null, packed?.names ?? [])
  }
  if (wanted.length > 0) {
    parts.push(`${countedWord(wanted.length, 'commit')} read`)
    await wantReleases(app.db, host.project_id)
    if (wanted.length === MAX_COMMITS) await wantRepository(app.db, host.project_id)
  }
  return parts
}

async function listFiles(app: App, host: CodeHostRow, client: HostClient, branch: string): Promise<number> {
  const paths = (await findVendor(host.provider).listPaths(client, branch, MAX_PATHS)).filter(
    (path) => path.length <= 1_000,
  )
  await app.tx(async (tx) => {
    await clearPaths(tx, host.project_id)
    for (let at = 0; at < paths.length; at += PATHS_PER_STATEMENT) {
      const part = paths.slice(at, at + PATHS_PER_STATEMENT).map((path) => ({ path, name: foldFileName(path) }))
      await changePaths(tx, host.project_id, part, [], MAX_PATHS)
    }
    await wantLines(tx, host.project_id, MAX_FIRST_COMMITS)
    await changeCodeHost(tx, host.project_id, { listed_at: app.clock.now(), default_branch: branch })
  })
  return paths.length
}

export const codeHostRepositoryTask = defineTask({
  name: REPOSITORY_JOB,
  payload: z.object({ projectId: z.uuid() }),
  run: (app, { projectId }, signal) => readRepository(app, projectId, signal),
})
