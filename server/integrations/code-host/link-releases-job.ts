import type { FactSubscriber } from '../../platform/context/actor.ts'
import { addJob } from '../../platform/jobs/task.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { oneByOne, RELEASES_JOB } from './job-names.ts'

/** Adds the job that gives releases of a project their commits. */
export async function wantReleases(on: Connection, projectId: string): Promise<void> {
  await addJob(on, RELEASES_JOB, { projectId }, { ...oneByOne(projectId), key: `${RELEASES_JOB} ${projectId}` })
}

const KINDS: ReadonlySet<string> = new Set(['release.created', 'release.updated', 'release.commits_added'])

/** A release may be one that a tag or a commit of the repository means. */
export const linkNewReleases: FactSubscriber = async (tx, _context, facts) => {
  const projects = new Set(
    facts.flatMap(({ kind, projectId }) => (KINDS.has(kind) && projectId !== undefined ? [projectId] : [])),
  )
  for (const projectId of projects) await wantReleases(tx, projectId)
}
