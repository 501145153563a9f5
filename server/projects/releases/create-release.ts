import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { requireProject } from '../registry/view-project.ts'
import { storeCommits } from './add-commits.ts'
import type { CommitInput, WholeRelease } from './releases.api.ts'
import { insertRelease } from './releases.queries.ts'
import { aboutRelease } from './ensure-release.ts'
import { viewRelease } from './view-release.ts'

type CreateReleaseInput = {
  readonly projectId: string
  readonly version: string
  readonly released_at?: string | null | undefined
  readonly url?: string | null | undefined
  readonly ref?: string | null | undefined
  readonly commits?: readonly CommitInput[] | undefined
}

/** @throws AppError not_found; conflict when the version exists and is not only planned */
export async function createRelease(app: App, actor: OrgActor, input: CreateReleaseInput): Promise<WholeRelease> {
  await requireProject(app, actor, input.projectId)
  return app.tx(async (tx) => {
    const release = await insertRelease(tx, {
      id: newId(),
      project_id: input.projectId,
      version: input.version,
      released_at: timeOf(input.released_at),
      url: input.url ?? null,
      ref: input.ref ?? null,
      created_at: app.clock.now(),
    })
    if (release === null) throw conflict(`The project already has a release ${input.version}.`)
    if (input.commits !== undefined && input.commits.length > 0) await storeCommits(tx, release, input.commits)
    await recordFacts(tx, factContext(app, actor), [
      {
        kind: 'release.created',
        ...aboutRelease(actor, release),
        data: { version: release.version, automatic: false },
      },
    ])
    return viewRelease(tx, release)
  })
}

const timeOf = (text: string | null | undefined): Date | null =>
  text === undefined || text === null ? null : new Date(text)
