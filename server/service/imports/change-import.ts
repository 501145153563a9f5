import { z } from 'zod'
import { orgSealer } from '../../identity/auth/org-sealer.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/actor.ts'
import { addJob } from '../../platform/jobs/task.ts'
import { conflict, invalid, notFound } from '../../platform/kernel/errors.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { Counts, type Import, type ImportState, ProjectMapping } from './imports.api.ts'
import { lockImport, type StoredImport, sourceTokenPlace, updateImport } from './imports.queries.ts'
import { readImport } from './view-import.ts'

export const RUN_IMPORT = 'run-import'

/** A later job of the same import waits for the one before. */
export const continueImport = (on: Connection, importId: string, runAt?: Date): Promise<void> =>
  addJob(
    on,
    RUN_IMPORT,
    { import_id: importId },
    { key: `${RUN_IMPORT} ${importId}`, oneByOne: importId, ...(runAt === undefined ? {} : { runAt }) },
  )

export type MappingChange = Pick<
  ProjectMapping,
  'source_id' | 'taken' | 'project_id' | 'slug' | 'platform' | 'keeps_keys'
>

export type ImportChange = {
  readonly state?: 'running' | 'paused' | 'stopped' | undefined
  readonly token?: string | undefined
  readonly mapping?: readonly MappingChange[] | undefined
}

/** From which states a member can bring an import to a state. */
const FROM: Readonly<Record<'running' | 'paused' | 'stopped', readonly ImportState[]>> = {
  running: ['mapping', 'paused', 'running'],
  paused: ['running', 'paused'],
  stopped: ['mapping', 'running', 'paused', 'stopped'],
}

/** @throws AppError not_found, conflict (a state that does not follow, a mapping in use), invalid (another's project) */
export async function changeImport(app: App, actor: OrgActor, importId: string, change: ImportChange): Promise<Import> {
  await app.tx(async (tx) => {
    const row = await lockImport(tx, importId)
    if (row === undefined || row.org_id !== actor.orgId) throw notFound('Import')
    const mapping = change.mapping === undefined ? null : await changedMapping(tx, actor, row, change.mapping)
    if (mapping !== null) await updateImport(tx, importId, { mapping: JSON.stringify(mapping) })
    if (change.token !== undefined) await keepToken(app, tx, row, change.token)
    if (change.state !== undefined && change.state !== row.state)
      await moveTo(app, tx, actor, row, change.state, mapping)
  })
  return readImport(app, actor, importId)
}

async function changedMapping(
  tx: Tx,
  actor: OrgActor,
  row: StoredImport,
  changes: readonly MappingChange[],
): Promise<ProjectMapping[]> {
  if (row.state !== 'mapping') throw conflict('The mapping is fixed once the import has started.')
  const mapping = z.array(ProjectMapping).parse(row.mapping)
  const byId = new Map(changes.map((change) => [change.source_id, change]))
  for (const { source_id: id } of changes)
    if (!mapping.some((one) => one.source_id === id)) throw invalid(`mapping: the source has no project ${id}.`)
  for (const { project_id: id } of changes)
    if (id !== null && (await readProject(tx, actor.orgId, id)) === null) throw notFound('Project')
  const changed = mapping.map((one) => ({ ...one, ...byId.get(one.source_id) }))
  const slugs = changed.filter(({ taken, project_id: id }) => taken && id === null).map(({ slug }) => slug)
  const twice = slugs.find((slug, at) => slugs.indexOf(slug) !== at)
  if (twice !== undefined) throw invalid(`mapping: two new projects have the slug ${twice}.`)
  return changed
}

async function keepToken(app: App, tx: Tx, row: StoredImport, token: string): Promise<void> {
  if (row.ended_at !== null)
    throw conflict('The import has ended. Start a new one: it continues where this one stopped.')
  const sealer = await orgSealer(app, row.org_id, tx)
  await updateImport(tx, row.id, {
    token_sealed: sealer.seal(Buffer.from(token), sourceTokenPlace(row.org_id, row.id)),
    problem: null,
    failures: 0,
  })
}

async function moveTo(
  app: App,
  tx: Tx,
  actor: OrgActor,
  row: StoredImport,
  state: 'running' | 'paused' | 'stopped',
  mapping: readonly ProjectMapping[] | null,
): Promise<void> {
  if (!FROM[state].some((from) => from === row.state))
    throw conflict(`The import is ${row.state}: it cannot become ${state}. Start a new one, which continues there.`)
  const taken = (mapping ?? z.array(ProjectMapping).parse(row.mapping)).filter((one) => one.taken).length
  if (state === 'running' && taken === 0) throw invalid('Take at least one project.')
  const now = app.clock.now()
  const counts = Counts.parse(row.counts)
  await updateImport(tx, row.id, {
    state,
    problem: null,
    failures: 0,
    ...(row.started_at === null && state === 'running'
      ? { started_at: now, counts: JSON.stringify({ ...counts, projects: { done: 0, total: taken } }) }
      : {}),
    // The token is needed no more.
    ...(state === 'stopped' ? { ended_at: now, token_sealed: null } : {}),
  })
  if (state === 'running') await continueImport(tx, row.id)
  await recordFacts(tx, factContext(app, actor, now), [
    {
      kind: 'import.changed',
      orgId: actor.orgId,
      targetId: row.id,
      label: row.source_org,
      data: { from: row.state, to: state },
    },
  ])
}
