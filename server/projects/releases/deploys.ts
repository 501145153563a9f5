import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { readStart } from '../../platform/kernel/cursor.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { TOTAL_CAP, type Page } from '../../platform/kernel/page.api.ts'
import { decodeTimeCursor, encodeTimeCursor } from '../../platform/kernel/time-cursor.ts'
import type { PageInput } from './list-commits.ts'
import type { Deploy } from './releases.api.ts'
import { countParts, findRelease, insertDeploy, lockRelease, selectDeploys } from './releases.queries.ts'
import { aboutRelease } from './ensure-release.ts'
import { viewDeploy } from './view-release.ts'

const MAX_PER_RELEASE = 1_000

type CreateDeployInput = {
  readonly releaseId: string
  readonly environment: string
  readonly name?: string | null | undefined
  readonly url?: string | null | undefined
  readonly started_at?: string | null | undefined
  readonly finished_at?: string | null | undefined
}

/** @throws AppError not_found; conflict when the release has too many deploys */
export async function createDeploy(app: App, actor: OrgActor, input: CreateDeployInput): Promise<Deploy> {
  const now = app.clock.now()
  return app.tx(async (tx) => {
    const release = await lockRelease(tx, actor.orgId, input.releaseId)
    if (release === null) throw notFound('Release')
    const counts = (await countParts(tx, [release.id])).get(release.id)
    if ((counts?.deploys ?? 0) >= MAX_PER_RELEASE)
      throw conflict(`A release can have at most ${MAX_PER_RELEASE.toLocaleString('en-GB')} deploys.`)
    const startedAt = timeOf(input.started_at)
    const row = await insertDeploy(tx, {
      id: newId(),
      release_id: release.id,
      project_id: release.project_id,
      environment: input.environment,
      name: input.name ?? null,
      url: input.url ?? null,
      started_at: startedAt,
      finished_at: timeOf(input.finished_at) ?? (startedAt === null ? now : null),
      created_at: now,
    })
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'release.deployed', ...aboutRelease(actor, release), data: { environment: row.environment } },
    ])
    return viewDeploy(row)
  })
}

const timeOf = (text: string | null | undefined): Date | null =>
  text === undefined || text === null ? null : new Date(text)

/** @throws AppError not_found, invalid */
export async function listDeploys(
  app: App,
  actor: OrgActor,
  { releaseId, limit, offset, cursor }: PageInput & { readonly releaseId: string },
): Promise<Page<Deploy>> {
  const after = readStart({ offset, cursor }, decodeTimeCursor)
  const release = await findRelease(app.db, actor.orgId, releaseId)
  if (release === null) throw notFound('Release')
  const [rows, counts] = await Promise.all([
    selectDeploys(app.db, releaseId, { limit: limit + 1, offset }, after),
    countParts(app.db, [releaseId]),
  ])
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return {
    items: shown.map(viewDeploy),
    total: Math.min(counts.get(releaseId)?.deploys ?? 0, TOTAL_CAP),
    limit,
    offset,
    next_cursor: last === undefined ? null : encodeTimeCursor({ at: last.created_at, id: last.id }),
  }
}
